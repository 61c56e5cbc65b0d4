import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { askProducts } from "../../experiments/products";
import type { Conclusion } from "../../chaos/report/conclusion";
import { type Cluster, ignoreNotFound } from "../../chaos/cluster/client";
import { labels } from "../../chaos/cluster/labels";
import { addressRoute, kubectlApply } from "../cluster";
import type { ManifestObject } from "../../components/manifest/read";
import { type Figure, measureRounds, median, type Samples } from "../figure";
import { namespaces, type Session, windowSeconds } from "../session";
import { project } from "../../cli/stack-file";
import { manifestsOf } from "../stack";
import { timed } from "../time";

const rounds = 5;
const askEveryMs = 50;
const lookEveryMs = 25;

export const experimentEnable: Figure = {
    name: "experiment-enable",
    meaning:
        `time of pulumi up to enable the experiment, without the check's window of ${windowSeconds} s, ` +
        "minus the time of kubectl apply of only the policy",
    bar: 6,
    unit: "s",
    samplesIn: "s",
    async measure(session) {
        const { enable, kubectl } = await experimentRounds(session);
        return { value: median(enable) - median(kubectl), samples: { enable, kubectl } };
    },
};

export const recovery: Figure = {
    name: "recovery",
    meaning: "longest time from the policy's deletion until /products stays good",
    bar: 2,
    unit: "s",
    samplesIn: "s",
    async measure(session) {
        const { recovery: samples } = await experimentRounds(session);
        return { value: Math.max(...samples), samples: { recovery: samples } };
    },
};

let made: Promise<Samples<"enable" | "kubectl" | "recovery">> | undefined;

/**
 * Enables and disables the experiment in rounds, once for both figures. The times of each round are in seconds:
 *
 * - `enable`: `pulumi up` that enables it, without the check's window
 * - `kubectl`: `kubectl apply` of only the policy
 * - `recovery`: from the policy's deletion to the first good `/products`
 */
const experimentRounds = (session: Session) => (made ??= measureRounds(rounds, session, () => runRound(session)));

async function runRound(session: Session) {
    const shop = await session.runningShop();
    await shop.set({ "experiment.enabled": "true" });
    const whole = await shop.up();
    discardFailedRun(await shop.output<Conclusion>("experiment"));
    // The shop has policies, too.
    const policy = manifestsOf(await shop.state(), namespaces.shop).find(
        ({ kind, metadata }) => kind === "NetworkPolicy" && metadata.labels?.[labels.experiment] !== undefined,
    )!;
    const kubectl = await applyHarmlessly(session, policy);
    await shop.set({ "experiment.enabled": "false" });
    const recovery = await recover(session, policy.metadata.name, () => shop.up());
    return { enable: whole - windowSeconds, kubectl, recovery };
}

/**
 * Deletes the report of a run.
 *
 * @throws Error if its verdict is not FAILED: with one replica of hot-deals, an attack must break the listing
 */
export function discardFailedRun({ verdict, reason, journal }: Conclusion): void {
    for (const kind of ["json", "svg", "html"]) rmSync(join(project, journal.replace(/json$/, kind)), { force: true });
    if (verdict !== "FAILED") throw new Error(`the verdict was ${verdict} instead of FAILED: ${reason}`);
}

/** The seconds of `kubectl apply` of the policy, changed to select no pod. */
async function applyHarmlessly({ cluster, context }: Session, policy: ManifestObject): Promise<number> {
    const metadata = { name: "bench-policy", namespace: namespaces.shop };
    const podSelector = { matchLabels: { "chaos-shop/bench": "nobody" } };
    const manifest = { ...policy, metadata, spec: { ...(policy.spec as object), podSelector } };
    const seconds = await timed(() => kubectlApply(context, [manifest]));
    await ignoreNotFound(cluster.networking.deleteNamespacedNetworkPolicy(metadata));
    return seconds;
}

/** Disables the experiment while requesting `/products` at a steady rate. */
async function recover({ cluster }: Session, policy: string, disable: () => Promise<unknown>): Promise<number> {
    const route = await addressRoute(cluster, namespaces.shop);
    if (!route) throw new Error("the gateway has no address");
    const samples: ProductsSample[] = [];
    const ask = () =>
        void askProducts(cluster, route, 5_000).then(({ at, latencyMs, good }) =>
            samples.push({ answeredAt: at + latencyMs, good }),
        );
    const ended = new AbortController();
    const gone = policyGone(cluster, policy, ended.signal);
    gone.catch(() => undefined); // Reported where it is awaited, after an error of the update.
    const clock = setInterval(ask, askEveryMs);
    try {
        await disable();
    } finally {
        clearInterval(clock);
        ended.abort();
    }
    return recoverySeconds(samples, await gone);
}

/**
 * Polls until a policy is deleted. Returns when it last existed, in milliseconds since the epoch: durations measured
 * from there are never too short.
 *
 * @throws Error if the policy still exists when `signal` aborts
 */
async function policyGone({ networking }: Cluster, name: string, signal: AbortSignal): Promise<number> {
    let seenAt = Date.now();
    while (!signal.aborted) {
        const found = await ignoreNotFound(
            networking.readNamespacedNetworkPolicy({ namespace: namespaces.shop, name }),
        );
        if (!found) return seenAt;
        seenAt = Date.now();
        await sleep(lookEveryMs);
    }
    throw new Error(`the policy ${name} still existed at the end of the update`);
}

/** An answer of `/products`. */
interface ProductsSample {
    /** Milliseconds since the epoch. */
    answeredAt: number;
    good: boolean;
}

/**
 * The seconds from a policy's deletion to the first good answer after the last bad one. 0 if that answer came before
 * the deletion was observed.
 *
 * @param goneAt when the deletion was observed, in milliseconds since the epoch
 * @throws Error if the answers show no attack, or no recovery
 */
export function recoverySeconds(samples: readonly ProductsSample[], goneAt: number): number {
    const inOrder = [...samples].sort((a, b) => a.answeredAt - b.answeredAt);
    const lastBad = inOrder.findLastIndex(({ good }) => !good);
    if (lastBad === -1) throw new Error("/products never failed: there was nothing to recover from");
    const recovered = inOrder[lastBad + 1];
    if (recovered === undefined) throw new Error("/products was still bad at the end of the update");
    return Math.max(0, recovered.answeredAt - goneAt) / 1_000;
}

import { rmSync } from "node:fs";
import { join } from "node:path";
import { askProducts } from "../experiments/checks/products";
import type { Conclusion } from "../experiments/journal";
import { orMissing } from "../shared/kubernetes";
import { addressRoute, kubectlApply } from "./cluster";
import { type Manifest, manifestsOf } from "./manifests";
import { policyGone } from "./policyGone";
import { type ProductsSample, recoverySeconds } from "./recovery";
import { namespaces, type Session, windowSeconds } from "./session";
import { project } from "./stack";
import { timed } from "./time";

const rounds = 5;
const askEveryMs = 50;

/** What one round of enabling and disabling the experiment took, in seconds. */
export interface ExperimentRound {
    /** `pulumi up` that enables it, the check's window subtracted. */
    enable: number;
    /** `kubectl apply` of just the policy. */
    kubectl: number;
    /** From the policy's deletion to the first good `/products`. */
    recovery: number;
}

const made = new WeakMap<Session, Promise<ExperimentRound[]>>();

/** Rounds of the experiment, run once however many figures are taken from them. */
export function experimentRounds(session: Session): Promise<ExperimentRound[]> {
    if (!made.has(session)) made.set(session, runRounds(session));
    return made.get(session)!;
}

async function runRounds(session: Session): Promise<ExperimentRound[]> {
    const results: ExperimentRound[] = [];
    for (let round = 1; round <= rounds; round++) {
        const result = await runRound(session);
        session.say(
            `round ${round} of ${rounds}: enabled in ${result.enable.toFixed(1)} s, kubectl ${result.kubectl.toFixed(2)} s, ` +
                `recovered ${result.recovery.toFixed(2)} s after the policy was gone`,
        );
        results.push(result);
    }
    return results;
}

async function runRound(session: Session): Promise<ExperimentRound> {
    const shop = await session.runningShop();
    await shop.set({ "experiment.enabled": "true" });
    const whole = await shop.up();
    discardFailedRun(await shop.output<Conclusion>("experiment"));
    const policy = manifestsOf(await shop.state(), namespaces.shop).find(({ kind }) => kind === "NetworkPolicy")!;
    const kubectl = await applyHarmlessly(session, policy);
    await shop.set({ "experiment.enabled": "false" });
    const recovery = await recover(session, policy.metadata.name, () => shop.up());
    return { enable: whole - windowSeconds, kubectl, recovery };
}

/**
 * Takes away the report of a run, which must have come to FAILED.
 *
 * @throws Error where it did not: with one replica of hot-deals the listing must fail, or nothing was attacked and nothing
 * is recovered from
 */
export function discardFailedRun({ verdict, reason, journal }: Conclusion): void {
    for (const kind of ["json", "svg", "html"]) rmSync(join(project, journal.replace(/json$/, kind)), { force: true });
    if (verdict !== "FAILED") throw new Error(`the experiment came to ${verdict} instead of FAILED: ${reason}`);
}

/** The seconds of `kubectl apply` of the policy, but one that selects no pod. */
async function applyHarmlessly({ cluster, context }: Session, policy: Manifest): Promise<number> {
    const name = "bench-policy";
    const namespace = namespaces.shop;
    const manifest: Manifest = {
        apiVersion: policy.apiVersion,
        kind: policy.kind,
        metadata: { name, namespace },
        spec: { ...(policy.spec as object), podSelector: { matchLabels: { "chaos-shop/bench": "nobody" } } },
    };
    const seconds = await timed(() => kubectlApply(context, [manifest]));
    await orMissing(cluster.networking.deleteNamespacedNetworkPolicy({ name, namespace }));
    return seconds;
}

/** Disables the experiment, and asks `/products` meanwhile at a steady rate, from outside of Pulumi. */
async function recover({ cluster }: Session, policy: string, disable: () => Promise<unknown>): Promise<number> {
    const route = await addressRoute(cluster, namespaces.shop);
    if (!route) throw new Error("the gateway has no address");
    const samples: ProductsSample[] = [];
    const ask = () =>
        void askProducts(cluster, route, 5_000).then(({ at, latencyMs, good }) =>
            samples.push({ answeredAt: at + latencyMs, good }),
        );
    const ended = new AbortController();
    const gone = policyGone(cluster, namespaces.shop, policy, ended.signal);
    gone.catch(() => undefined); // Told where it is awaited; an update that fails is told first.
    const clock = setInterval(ask, askEveryMs);
    try {
        await disable();
    } finally {
        clearInterval(clock);
        ended.abort();
    }
    return recoverySeconds(samples, await gone);
}

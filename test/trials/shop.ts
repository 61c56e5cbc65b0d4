import { rmSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { labels } from "../../chaos/cluster/labels";
import { type KubeObject, resources } from "../../chaos/cluster/resources";
import { loansOn } from "../../chaos/ending/end";
import { restored } from "../../chaos/ending/left";
import { leaseName } from "../../chaos/lease/lease-record";
import type { Conclusion } from "../../chaos/report/conclusion";
import { plainError } from "../../chaos/cli/plain-error";
import { parseDuration } from "../../chaos/values/duration";
import { project } from "../../cli/stack-file";
import type { TestStack } from "../e2e/shop/support";
import { until } from "../support/until";
import { programsIn } from "./troubles/processes";

/** What a kind needs of the shop. Changing it takes an update. */
export interface Shape {
    /** Replicas of hot-deals, of which each experiment attacks one. */
    hotDeals: 1 | 3;
    /** Type of the gateway's Service. Without an external address, the check asks through the API server. */
    gateway: "LoadBalancer" | "ClusterIP";
    /** Whether the shop's pods may exchange only what they need. @default true */
    networkPolicies?: boolean;
    /** Where all pods of the shop and of its experiments run. @default on any node */
    zone?: "zone-b";
}

/** The saved experiment of kinds that name none. */
export const usualExperiment = "hot-deals-blackhole";
/** How soon after the end of an experiment nothing of it may be left, in milliseconds. */
export const leftoverMs = 5_000;
/** The deadline of an experiment, unless a trial says another. */
export const deadlineSeconds = 120;
/** How soon after that `/products` must be whole, in milliseconds: a pod becomes ready again. */
const wholeMs = 10_000;

/** The check's window. */
export interface Window {
    graceMs: number;
    durationMs: number;
}

/** When an update prints `Proven`, at most this much of the window has passed, in milliseconds. */
export const provenForMs = 1_200;

type Settings = Readonly<Record<string, string>>;

/**
 * The window of a kind: 1 s longer than is needed, see `provenForMs`. Three replicas need a longer grace period: until
 * the target has left its Service, each third request fails.
 */
export function windowOf({ shape, settings = {} }: { shape: Shape; settings?: Settings }): Window {
    const msOf = (key: string, usual: number) => (key in settings ? parseDuration(settings[key]!)! : usual);
    return {
        graceMs: msOf("experiment.grace", shape.hotDeals === 1 ? 2_000 : 6_000),
        durationMs: msOf("experiment.duration", 5_000),
    };
}

/** A stack with a shop, which is kept from trial to trial. */
export class Shop {
    private now?: Shape;
    /** Names of the settings that the last kind has had. */
    private ofKind: string[] = [];

    constructor(readonly stack: TestStack) {}

    /** Brings the shop into a shape. */
    async prepare(shape: Shape): Promise<void> {
        const { hotDeals, gateway, networkPolicies = true, zone } = shape;
        if (isDeepStrictEqual(this.now, shape)) return;
        this.now = undefined;
        if (zone === undefined) this.stack.unset("nodes.selector");
        await this.stack.up({
            ...(zone && { "nodes.selector": `topology.kubernetes.io/zone=${zone}` }),
            "replicas.hot-deals": String(hotDeals),
            "gateway.serviceType": gateway,
            networkPolicies: String(networkPolicies),
            "experiment.enabled": "false",
        });
        await until("/products is whole", () => this.isWhole(), { timeoutMs: wholeMs });
        this.now = shape;
    }

    /** Has the next trial bring the shop into its shape, after something went wrong. */
    forgetShape(): void {
        this.now = undefined;
    }

    /**
     * The settings that enable an experiment. Those that only another kind has are unset.
     *
     * @param run names it in reports
     */
    enabling(
        run: string,
        {
            experiment = usualExperiment,
            deadline = `${deadlineSeconds}s`,
            settings = {},
        }: { experiment?: string; deadline?: string; settings?: Settings } = {},
    ): Record<string, string> {
        const { graceMs, durationMs } = windowOf({ shape: this.now!, settings });
        for (const key of this.ofKind) if (!(key in settings)) this.stack.unset(key);
        this.ofKind = Object.keys(settings);
        return {
            "experiment.enabled": "true",
            "experiment.name": experiment,
            "experiment.run": run,
            "experiment.grace": `${graceMs}ms`,
            "experiment.duration": `${durationMs}ms`,
            "experiment.interval": "250ms",
            "experiment.timeout": "3s",
            "experiment.deadline": deadline,
            ...settings,
        };
    }

    /** @param signal cancels the update, like Ctrl-C */
    async enable(
        run: string,
        kind: { experiment?: string; settings?: Settings },
        signal: AbortSignal,
    ): Promise<Conclusion> {
        return this.stack.run(this.enabling(run, kind), signal);
    }

    /** Undoes the experiment. @returns why it had to be tried twice. @throws if it fails again */
    async disable(): Promise<string[]> {
        const off = { "experiment.enabled": "false" };
        try {
            await this.stack.up(off);
            return [];
        } catch (error) {
            await this.stack.up(off);
            return [`the first update that should undo it failed: ${plainError(error)}`];
        }
    }

    /** What is left of an experiment that an update has just ended. It has 5 s to go. */
    leftovers(): Promise<string[]> {
        return untilNone(async () => [...(await this.stack.traces()), ...(await this.changed())], leftoverMs);
    }

    /** What is left of an attack that the deadline should have ended. The Job itself stays until the next update. */
    attackLeft(patienceMs: number): Promise<string[]> {
        const { stack } = this;
        return untilNone(async () => {
            const found = await Promise.all([stack.attackPolicies(), stack.targets()]);
            return [...new Set([...found.flatMap((items) => named(items)), ...(await this.changed())])];
        }, patienceMs);
    }

    /** Replaces the pods that experiments attack: a kubelet starts late what was restarted several times. */
    async renew(): Promise<void> {
        const { namespace, cluster } = this.stack;
        const attacked = { namespace, labelSelector: "app=hot-deals" };
        const uids = async () =>
            (await cluster.core.listNamespacedPod(attacked)).items.map(({ metadata }) => metadata!.uid);
        const before = await uids();
        await cluster.core.deleteCollectionNamespacedPod(attacked);
        const areGone = async () => (await uids()).every((uid) => !before.includes(uid));
        await until("the pods are replaced", areGone);
        await until("/products is whole", () => this.isWhole());
    }

    /** Why `/products` does not become whole soon. */
    async brokenBecause(): Promise<string[]> {
        return until("/products is whole", () => this.isWhole(), { timeoutMs: wholeMs }).then(
            () => [],
            (error: Error) => [error.message],
        );
    }

    async close(): Promise<void> {
        await this.stack.close();
    }

    private async isWhole(): Promise<boolean> {
        return (await this.stack.products()).good;
    }

    /** What a run has borrowed, or loads, and the pods that actions have beside it. */
    private async changed(): Promise<string[]> {
        const { namespace, cluster } = this.stack;
        const isActive = (pod: KubeObject) =>
            programsIn(pod).length > 0 || labels.beside in (pod.metadata!.labels ?? {});
        const finding = [...new Set([...restored, resources.pod])].map(async (resource) => {
            const objects: KubeObject[] = await cluster.all(resource, { namespace });
            return objects.filter(
                (object) => loansOn(resource, object).length > 0 || (resource === resources.pod && isActive(object)),
            );
        });
        return named((await Promise.all(finding)).flat());
    }
}

const named = (items: { metadata?: { name?: string } }[]) => items.map(({ metadata }) => metadata!.name!);

/** Looks until nothing is found, or the time is up. @returns what is found then, or why that is not known */
async function untilNone(look: () => Promise<string[]>, patienceMs: number): Promise<string[]> {
    let found: string[] = [];
    const isNone = async () => {
        found = await look().catch((error: unknown) => [`what is left is not known: ${plainError(error)}`]);
        return found.length === 0;
    };
    await until("nothing is left", isNone, { timeoutMs: patienceMs }).catch(() => undefined);
    return found;
}

/** What a killed update may leave: of a run that was killed in its first step, the lease stays until it expires. */
export const withoutLease = (leftovers: readonly string[]) => leftovers.filter((name) => name !== leaseName);

/** Deletes the report of a run. */
export function discardReport(journal: string): void {
    for (const kind of ["json", "svg", "html"]) rmSync(join(project, journal.replace(/json$/, kind)), { force: true });
}

import type { V1Service } from "../../../values/kubernetes-types";
import { setTimeout as sleep } from "node:timers/promises";
import { isReady, type Pod, portNumberIn, targetPortOf } from "../../../values/kubernetes-rules";
import { labels, selectorOf, targetLabelOf } from "../../../cluster/labels";
import { resources } from "../../../cluster/resources";
import { inTurns } from "../../../values/async";
import { groupedBy } from "../../../values/grouped";
import type { JobContext, JobPart } from "../job-part";
import { whyKeptOut } from "./kept-out";
import { type Sample, samplesOf } from "./match";
import { beforePointing, behind, proxyOf, selectsNobody } from "./pointing";
import { probeThrough, type Probed } from "./proxy/probe";
import { type Abort, answerWordOf, type ByteLimits, type Fault, probeLimits } from "./proxy/protocol";

const pauseMs = 1_000;
const maxProbing = 200;
/** While the API server does not say where the Service leads, the last answer counts this long. */
const maxUnreadMs = 3_000;
/** Longer waits for an answer show nothing more: what has not come by then is delayed, or hangs. */
const longestMs = 2_000;
/** A timer may fire a moment early. */
const heldShare = 0.9;
/** A proxy that has died for the first time is ready again within this time. */
const restartMs = 5_000;
/** A proxy learns the address of a new witness within this time. */
const unknownMs = 5_000;
/** An answer without a delay comes within this time, on a busy machine, too. */
const undelayedMs = 1_000;

/** The witness probes the fault, and the Job ends it if callers do not reach its Service. */
export function faultInJob(fault: Fault, context: JobContext): JobPart {
    const probes = new FaultProbes(fault, context);
    void probes.lookAgainAndAgain();
    let restartingSince: number | undefined;
    return {
        get last() {
            return probes.last;
        },
        async whyEndNow() {
            const { api, namespace, object } = context;
            const service = await api.get({ resource: resources.service, namespace, name: fault.service });
            const why = await whyOutOfReach(fault, service, context);
            if (why !== "restarting") restartingSince = undefined;
            else if (performance.now() - (restartingSince ??= performance.now()) < restartMs) return undefined;
            if (why !== undefined) return why === "restarting" ? silent(fault) : why;
            return service && proxyOf(service) === object.name ? whyKeptOut(fault, service, context) : undefined;
        },
    };
}

const silent = ({ service }: Pick<Fault, "service">) => `the proxy of Service ${service} has ended, or does not answer`;

/**
 * Why callers do not reach the Service whose place a fault's proxy has taken. `restarting` if that may pass by itself.
 * Undefined if callers reach it, and as long as it does not point to the proxy.
 * @throws Error if the API server does not say
 */
export async function whyOutOfReach(
    fault: Pick<Fault, "service">,
    service: V1Service | undefined,
    { api, object }: Pick<JobContext, "api" | "object">,
): Promise<string | undefined> {
    if (service === undefined) return undefined;
    if (selectsNobody(service))
        return `somebody has changed the selector of Service ${fault.service}, which selects nobody`;
    if (proxyOf(service) !== object.name) return undefined;
    const pod = (await api.get(object)) as Pod | undefined;
    if (pod === undefined || pod.metadata!.deletionTimestamp !== undefined) return silent(fault);
    if (isReady(pod)) return undefined;
    const { phase, containerStatuses: [container] = [] } = pod.status ?? {};
    const hasDied = container !== undefined && (container.restartCount > 0 || !container.state?.running);
    return phase === "Running" && hasDied ? "restarting" : silent(fault);
}

const nothing = { open: [], closed: [] };

/**
 * Probes the pods of a Service repeatedly, through each of its addresses, as its callers reach them. `closed` is a pod
 * whose traffic is hit as the fault says, or one that is affected although it is no target or the request does not
 * match; `open` one that answers at once. What cannot be reached is neither.
 */
class FaultProbes {
    private found: Required<JobPart>["last"] = nothing;
    /** Since when the API server has not said where the Service leads. Undefined while it does. */
    private unreadSince?: number;
    private readonly samples: readonly Sample[];
    /** Addresses and ports of the Service that have answered once: its pods may listen in one family alone. */
    private readonly reached = new Set<string>();
    private readonly begunAt = performance.now();
    /** Whether the fault had begun when this witness came. Undefined before its first look. */
    private isLate?: boolean;
    private pass?: string;

    constructor(
        private readonly fault: Fault,
        private readonly context: JobContext,
    ) {
        this.samples = samplesOf(fault.match);
    }

    get last(): Required<JobPart>["last"] {
        const { unreadSince = Infinity } = this;
        return performance.now() - unreadSince > maxUnreadMs ? nothing : this.found;
    }

    async lookAgainAndAgain(): Promise<void> {
        const { ending, log } = this.context;
        while (!ending.aborted) {
            const begun = performance.now();
            await this.look().catch(log);
            await sleep(Math.max(0, begun + pauseMs - performance.now()));
        }
    }

    private async look(): Promise<void> {
        const { service } = this.fault;
        const { api, namespace, run, label, object } = this.context;
        this.unreadSince ??= performance.now();
        const found = await api.get({ resource: resources.service, namespace, name: service });
        const { spec, metadata } = found ?? {};
        if (spec === undefined) {
            this.found = nothing;
            return;
        }
        const pass = (this.pass ??= passOf((await api.get(object)) as Pod | undefined));
        this.isLate ??= proxyOf({ spec }) === object.name;
        const mayBeUnknown = this.isLate && performance.now() - this.begunAt < unknownMs;
        const selector = beforePointing({ metadata }) ?? spec.selector ?? {};
        const pods: Pod[] = [];
        for await (const pod of api.list(resources.pod, { namespace, labelSelector: selectorOf(selector) }))
            if (isReady(pod)) pods.push(probedOf(pod));
        this.unreadSince = undefined;
        const isTarget = (pod: Pod) => targetLabelOf(pod) === label;
        const probes = pods.flatMap((pod) =>
            (spec.ports ?? [])
                .filter((one) => portNumberIn(pod, targetPortOf(one)) !== undefined)
                // Pods that are no targets must answer even a request that matches.
                .flatMap(({ port }) =>
                    this.samples.slice(0, isTarget(pod) ? undefined : 1).map((sample) => ({ pod, port, sample })),
                ),
        );
        const { clusterIP, clusterIPs = [clusterIP!] } = spec;
        const atEach = clusterIPs.flatMap((host) => probes.map((one) => ({ ...one, at: { host, port: one.port } })));
        const probed = await inTurns(atEach, maxProbing, async ({ pod, at, sample: { head, differs } }) => {
            const isHit = isTarget(pod) && differs === undefined;
            const timeoutMs = isHit ? timeoutFor(this.fault) : undelayedMs;
            const found = await probeThrough(at, { run, pass }, pod.metadata!.uid!, timeoutMs, head);
            if (found.saw !== "refused") this.reached.add(JSON.stringify(at));
            const isUnknown = found.saw === "bypassed" && mayBeUnknown;
            const name = behind(service, at.port, pod.metadata!.name!, differs);
            return { name, at, isHit, state: isUnknown ? undefined : stateOf(found, isHit, this.fault) };
        });
        const ofEach = groupedBy(
            probed.filter(({ at }) => this.reached.has(JSON.stringify(at))),
            ({ name }) => name,
        );
        const seen = [...ofEach].map(([name, some]) => ({
            name,
            state: stateOfAll(
                some.map(({ state }) => state),
                some[0]!.isHit,
            ),
        }));
        const those = (wanted: "open" | "closed") => seen.flatMap(({ name, state }) => (state === wanted ? name : []));
        this.found = { open: those("open"), closed: those("closed") };
    }
}

/** Keeps only what probing needs, since pods may have any number of labels. */
const probedOf = ({ metadata, spec }: Pod): Pod => ({
    metadata: {
        name: metadata!.name,
        uid: metadata!.uid,
        labels: { [labels.target]: metadata!.labels?.[labels.target] ?? "" },
    },
    spec,
});

/** Undefined for a proxy of an earlier version. */
const passOf = (proxy: Pod | undefined): string | undefined => proxy?.metadata?.labels?.[labels.pass];

/** How long a probe of a target takes at least, in milliseconds. */
const leastMs = ({ delayMs, ...limits }: Pick<Fault, "delayMs"> & ByteLimits) => delayMs + probeLimits(limits).takesMs;

function timeoutFor(fault: Fault): number {
    const ms = leastMs(fault);
    return ms > 0 ? Math.min(ms * heldShare + undelayedMs, longestMs) : undelayedMs;
}

type State = "open" | "closed" | undefined;

/** What a pod shows at all addresses of its Service, since a caller may use any of them. */
export function stateOfAll(states: readonly State[], isHit: boolean): State {
    const [wanted, wrong] = isHit ? (["closed", "open"] as const) : (["open", "closed"] as const);
    if (states.includes(wrong)) return wrong;
    return states.length > 0 && states.every((state) => state === wanted) ? wanted : undefined;
}

/**
 * What a probe shows. Undefined if the pod was not reached, or not through the proxy.
 * @param isHit whether the fault is for this request to this pod
 */
export function stateOf(probed: Probed, isHit: boolean, fault: Pick<Fault, "delayMs" | "abort"> & ByteLimits): State {
    const { abort } = fault;
    switch (probed.saw) {
        case "bypassed":
            return "open";
        case "refused":
        case "unreachable":
        case "unknown":
            return undefined;
        case "silent":
            // The wait is shorter than the delay, so silence is what a delay looks like.
            return !isHit || leastMs(fault) > 0 || abort === "hang" ? "closed" : undefined;
        default: {
            if (!isHit) return probed.saw === "connected" ? "open" : "closed";
            const wasMet =
                probed.saw === "status" ? probed.status === answerWordOf(abort) : probed.saw === wordFor(abort, fault);
            return wasMet && probed.afterMs >= leastMs(fault) * heldShare ? "closed" : "open";
        }
    }
}

/** What a target's probe is to see, unless it is a status. */
const wordFor = (abort: Abort | undefined, limits: ByteLimits) =>
    abort ?? (probeLimits(limits).cut === undefined ? "connected" : "reset");

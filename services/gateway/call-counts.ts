import { hostname } from "node:os";
import { callsMetric } from "../shared/calls";
import type { Metrics } from "../shared/metrics";
import type { Scope } from "../shared/scope";
import { call } from "./call";
import type { ListedPod } from "./pod-list";

/** What a pod has counted since it started of its calls to a workload. */
export interface CallCount {
    to: string;
    answered: number;
    failed: number;
    /** The sum of the durations of those answered. */
    seconds: number;
}

export interface PodCalls {
    workload: string;
    pod: string;
    /** When this was read, in milliseconds since 1970. */
    atMs: number;
    calls: CallCount[];
}

/** @param pods of the shop, none if they are not known */
export type CallReader = (pods: readonly ListedPod[], scope: Scope) => Promise<PodCalls[]>;

const TIMEOUT_MS = 1_000;
const LIFE_MS = 1_000;

/**
 * Reads the counters of calls of the gateway, and of each pod of these workloads, from its `/metrics`. Asks each pod,
 * not its Service: a reader that gets another pod each time could not compute a rate.
 *
 * Pods are asked at most once a second, and nobody waits for them: one that is cut off would hold up the whole page.
 * The answer is that of the last time, without pods that did not answer then.
 */
export function callReader(metrics: Metrics, workloads: readonly string[]): CallReader {
    let known: PodCalls[] = [];
    let askedAt = -Infinity;
    const askAll = async (pods: readonly ListedPod[], scope: Scope) => {
        const asked = pods.filter(({ labels, url }) => workloads.includes(labels.app ?? "") && url !== undefined);
        const answers = await Promise.all(asked.map((pod) => askPod(pod, scope).catch(() => [])));
        known = answers.flat();
    };
    return async (pods, scope) => {
        if (performance.now() - askedAt >= LIFE_MS) {
            askedAt = performance.now();
            void askAll(pods, scope);
        }
        const own = await metrics.getSingleMetricAsString(callsMetric);
        return [{ workload: "gateway", pod: hostname(), atMs: Date.now(), calls: countsIn(own) }, ...known];
    };
}

async function askPod({ name, labels, url }: ListedPod, scope: Scope): Promise<PodCalls[]> {
    const { status, text } = await call({ name, url: url! }, { scope, timeoutMs: TIMEOUT_MS }, { path: "/metrics" });
    return status === 200 ? [{ workload: labels.app!, pod: name, atMs: Date.now(), calls: countsIn(text) }] : [];
}

const LINE = new RegExp(`^${callsMetric}_(sum|count){backend="([^"]*)",outcome="([^"]*)"} (\\S+)$`, "gm");

/** The counters of calls in Prometheus's text format, by the workload called. */
function countsIn(text: string): CallCount[] {
    const found = new Map<string, CallCount>();
    for (const [, kind, to, outcome, value] of text.matchAll(LINE)) {
        const count = found.get(to!) ?? { to: to!, answered: 0, failed: 0, seconds: 0 };
        found.set(to!, count);
        if (kind === "count") count[outcome === "ok" ? "answered" : "failed"] += Number(value);
        else if (outcome === "ok") count.seconds += Number(value);
    }
    return [...found.values()];
}

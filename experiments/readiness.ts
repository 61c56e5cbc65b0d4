import { type V1Pod, Watch } from "@kubernetes/client-node";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../shared/kubernetes";
import { labels } from "../shared/labels";
import type { ReadinessChange } from "./journal";

/** How long after a watch has ended, as an API server ends it now and then, the next one is begun. */
const pauseMs = 250;

/**
 * Notes when pods of a namespace become ready and cease to be, pods that come and go included, from its making until
 * `stop`. What it misses is missing in the picture, and changes no verdict.
 */
export class ReadinessRecorder {
    private readonly changes: ReadinessChange[] = [];
    private readonly last = new Map<string, boolean>();
    private readonly stopped = new AbortController();

    constructor({ kubeconfig }: Cluster, namespace: string) {
        void this.watch(new Watch(kubeconfig), `/api/v1/namespaces/${namespace}/pods`);
    }

    stop(): ReadinessChange[] {
        this.stopped.abort();
        return this.changes;
    }

    private async watch(pods: Watch, path: string): Promise<void> {
        const { signal } = this.stopped;
        while (!signal.aborted) {
            await new Promise<void>((ended) => {
                const begun = pods.watch(path, {}, (kind, pod: V1Pod) => this.note(pod, kind !== "DELETED" && isReady(pod)), () => ended());
                void begun.then((watch) => signal.addEventListener("abort", () => watch.abort(), { once: true }), () => ended());
            });
            await sleep(pauseMs);
        }
    }

    /** An event of another kind, such as an error, is of no pod. An experiment's own pods are not part of what it disturbs. */
    private note({ metadata }: V1Pod, ready: boolean): void {
        const pod = metadata?.name;
        if (pod === undefined || metadata?.labels?.[labels.experiment] !== undefined || this.last.get(pod) === ready) return;
        this.last.set(pod, ready);
        this.changes.push({ at: Date.now(), pod, ready });
    }
}

function isReady({ status }: V1Pod): boolean {
    return status?.conditions?.some(({ type, status: state }) => type === "Ready" && state === "True") ?? false;
}

import type { V1Pod } from "../values/kubernetes-types";
import { setTimeout as sleep } from "node:timers/promises";
import { isReady } from "../targets/containers";
import type { Cluster } from "../cluster/client";
import { labels } from "../cluster/labels";
import { resources } from "../cluster/resources";
import type { ReadinessChange } from "./journal-schema";

/** An API server ends a watch now and then. The next one begins after this time. */
const pauseMs = 250;

/**
 * Notes when pods of a namespace become ready or not ready, and when they come and go, until `stop`. What it misses is
 * missing in the picture, and changes no verdict.
 */
export class ReadinessRecorder {
    private readonly changes: ReadinessChange[] = [];
    private readonly last = new Map<string, boolean>();
    private stopped = false;
    private watching?: AbortController;
    private readonly begunAt = Date.now();

    constructor(
        private readonly cluster: Cluster,
        private readonly namespace: string,
    ) {
        void this.record();
    }

    stop(): ReadinessChange[] {
        this.stopped = true;
        this.watching?.abort();
        return this.changes;
    }

    private async record(): Promise<void> {
        for (let first = true; !this.stopped; first = false) {
            // The first list shows how the pods were from the beginning; later lists and watches show what has just
            // changed.
            await this.follow(first ? this.begunAt : undefined).catch(() => undefined);
            await sleep(pauseMs);
        }
    }

    private follow(at?: number): Promise<void> {
        this.watching = new AbortController();
        return this.cluster.watch(
            resources.pod,
            { namespace: this.namespace },
            (pods) => pods.forEach((pod) => this.note(pod, isReady(pod), at)),
            ({ type, object }) => this.note(object, type !== "DELETED" && isReady(object)),
            this.watching.signal,
        );
    }

    /**
     * Leaves out the experiment's own pods, which it does not disturb, and events that are of no pod, such as an error.
     */
    private note({ metadata }: V1Pod, ready: boolean, at = Date.now()): void {
        const pod = metadata?.name;
        const ofExperiment = metadata?.labels?.[labels.experiment] !== undefined;
        if (pod === undefined || ofExperiment || this.last.get(pod) === ready) return;
        this.last.set(pod, ready);
        this.changes.push({ at, pod, ready });
    }
}

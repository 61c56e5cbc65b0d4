import { type V1Pod, Watch } from "@kubernetes/client-node";
import { setTimeout as sleep } from "node:timers/promises";
import { isReady } from "../targets/containers";
import type { Cluster } from "../cluster/client";
import { labels } from "../cluster/labels";
import type { ReadinessChange } from "./journal-schema";
import { resources } from "../cluster/resources";

/** How long after a watch has ended, as an API server ends it now and then, the next one is begun. */
const pauseMs = 250;

/**
 * Notes when pods of a namespace become ready and cease to be, pods that come and go included, from its making until
 * `stop`. What it misses is missing in the picture, and changes no verdict.
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
            // What is in the first list was so from the beginning; what a watch tells has just become so.
            await this.follow(first ? this.begunAt : undefined).catch(() => undefined);
            await sleep(pauseMs);
        }
    }

    private async follow(at?: number): Promise<void> {
        const { metadata, items } = await this.cluster.all(resources.pod, { namespace: this.namespace });
        for (const pod of items) this.note(pod, isReady(pod), at);
        const path = `/api/v1/namespaces/${this.namespace}/pods`;
        await new Promise<void>((ended) => {
            const begun = new Watch(this.cluster.kubeconfig).watch(
                path,
                { resourceVersion: metadata?.resourceVersion },
                (kind, pod: V1Pod) => this.note(pod, kind !== "DELETED" && isReady(pod)),
                () => ended(),
            );
            void begun.then(
                (watching) => {
                    this.watching = watching;
                    // It may have begun meanwhile.
                    if (this.stopped) watching.abort();
                },
                () => ended(),
            );
        });
    }

    /**
     * An event of another kind, such as an error, is of no pod. An experiment's own pods are not part of what it
     * disturbs.
     */
    private note({ metadata }: V1Pod, ready: boolean, at = Date.now()): void {
        const pod = metadata?.name;
        const ofExperiment = metadata?.labels?.[labels.experiment] !== undefined;
        if (pod === undefined || ofExperiment || this.last.get(pod) === ready) return;
        this.last.set(pod, ready);
        this.changes.push({ at, pod, ready });
    }
}

import { labels } from "../cluster/labels";
import { attackable, isReady, type Pod } from "../targets/containers";
import { accepts } from "./accepts";
import { endpointsOf, listed, log } from "./api";
import type { KeptConnections } from "./kept-connections";
import { reference } from "./protocol";

/** One that answers is enough: an attack may make others crash. */
const maxPods = 5;
/**
 * Time between lists while no pod answers. A pod that crashes is dropped when a list shows that it is not ready, which
 * must be before the proof takes it for cut off, after 3 s.
 */
const listEveryMs = 1_000;

interface ReferencePod {
    name: string;
    /** Whether it has accepted a connection. Others say nothing: other policies may keep this pod from them. */
    reached: boolean;
}

/**
 * Some ready pods of the namespace that no attack touches, to compare the targets with: each look tries fresh
 * connections to them, and a connection to one of them is kept open.
 */
export class ReferencePods {
    /** By their first endpoints. */
    private pods: ReadonlyMap<string, ReferencePod> = new Map();
    /** The endpoint that accepted a connection in the last look. */
    private answering?: string;
    /** Name of the pod to which the connection is kept. */
    private keptTo?: string;
    private isListing = false;
    private listedAt = -Infinity;

    constructor(
        private readonly namespace: string,
        private readonly kept: KeptConnections,
    ) {}

    /**
     * Tries a fresh connection to each.
     *
     * @returns whether one accepted it. Undefined if none did, and none had before that is still ready
     */
    async look(): Promise<boolean | undefined> {
        this.answering = undefined;
        const tried = [...this.pods].map(async ([endpoint, pod]) => {
            if (!(await accepts(endpoint))) return;
            pod.reached = true;
            this.answering ??= endpoint;
        });
        await Promise.all(tried);
        if (this.answering !== undefined) return true;
        return [...this.pods.values()].some(({ reached }) => reached) ? false : undefined;
    }

    /** Keeps the connection open, and the pods up to date, without waiting for them. @param attacked names of pods */
    async tend(attacked: readonly string[]): Promise<void> {
        const spared = [...this.pods].filter(([, { name }]) => !attacked.includes(name));
        const wantsMore = spared.length < this.pods.size || this.answering === undefined;
        this.pods = new Map(spared);
        if (wantsMore && !this.isListing && performance.now() - this.listedAt >= listEveryMs) {
            this.isListing = true;
            this.listedAt = performance.now();
            void this.list()
                .catch(log)
                .finally(() => (this.isListing = false));
        }
        if (this.keptTo !== undefined && attacked.includes(this.keptTo)) {
            this.kept.drop(reference);
            this.keptTo = undefined;
        }
        const pod = this.pods.get(this.answering ?? "");
        if (pod === undefined || !this.kept.lacks(reference)) return;
        this.keptTo = pod.name;
        await this.kept.open(reference, this.answering!);
    }

    /** Drops pods that are gone or not ready. Reads on until it has found those that it knows. */
    private async list(): Promise<void> {
        const selector = encodeURIComponent(`!${labels.target},!${labels.experiment}`);
        const path = `/api/v1/namespaces/${this.namespace}/pods?labelSelector=${selector}`;
        const sought = new Set([...this.pods].flatMap(([endpoint, { reached }]) => (reached ? [endpoint] : [])));
        const found: [endpoint: string, pod: ReferencePod][] = [];
        for await (const pod of listed<Pod>(path, "the pods that no attack touches cannot be listed")) {
            const [endpoint] = attackable(pod) && isReady(pod) ? endpointsOf(pod) : [];
            if (endpoint === undefined) continue;
            found.push([endpoint, this.pods.get(endpoint) ?? { name: pod.metadata!.name!, reached: false }]);
            sought.delete(endpoint);
            if (found.length >= maxPods && sought.size === 0) break;
        }
        const inOrder = found.sort(([, a], [, b]) => Number(b.reached) - Number(a.reached));
        this.pods = new Map(inOrder.slice(0, maxPods));
    }
}

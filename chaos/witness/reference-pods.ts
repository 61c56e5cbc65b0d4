import { labels } from "../cluster/labels";
import { attackable, isReady, type Pod } from "../targets/containers";
import { accepts } from "./accepts";
import { endpointsOf, itemsOf, log } from "./api";

/** Several, of different owners: an attack may make the pods of one crash. */
const maxPods = 5;
/** Few: servers log connections. Pods that crash must be dropped before they count as cut off, after 3 s. */
const pauseMs = { open: 2_000, closed: 1_000 };
/** A search reads so many pods at most, and is repeated after 100 ms for each: after a minute in a large namespace. */
const maxRead = 600;
const pauseMsPerRead = 100;

interface ReferencePod {
    name: string;
    endpoint: string;
    /** Its controller's uid, or its own. */
    owner: string;
    /** Whether it has accepted a connection. Others say nothing: other policies may keep this pod from them. */
    reached: boolean;
}

/**
 * Some ready pods of the namespace that no attack touches, to compare the targets with. One at a time gets a connection
 * that is closed at once, and others only if it does not accept it: nobody named these pods.
 */
export class ReferencePods {
    /**
     * Whether one accepts connections. Undefined if none did, and none had before that is still ready, or the API
     * server does not say which are.
     */
    accept?: boolean;
    /** The one that answered last is the first. */
    private pods: ReferencePod[] = [];
    private isTrying = false;
    private tryAt = -Infinity;
    private searchAt = -Infinity;

    constructor(private readonly namespace: string) {}

    /** Tries them if the last time is a while ago, without waiting for them. @param attacked names of pods */
    tend(attacked: readonly string[]): void {
        this.pods = this.pods.filter(({ name }) => !attacked.includes(name));
        if (this.isTrying || performance.now() < this.tryAt) return;
        this.isTrying = true;
        void this.round()
            .catch(log)
            .then((accept) => (this.accept = accept))
            .finally(() => {
                this.isTrying = false;
                this.tryAt = performance.now() + (this.accept ? pauseMs.open : pauseMs.closed);
            });
    }

    private async round(): Promise<boolean | undefined> {
        if (await this.oneAccepts(this.pods)) return true;
        this.pods = await this.stillReady();
        if (this.pods.length < maxPods && performance.now() >= this.searchAt) {
            const found = await this.search();
            this.pods.push(...found);
            if (await this.oneAccepts(found)) return true;
        }
        return this.pods.some(({ reached }) => reached) ? false : undefined;
    }

    private async oneAccepts(pods: readonly ReferencePod[]): Promise<boolean> {
        for (const pod of pods) {
            if (!(await accepts(pod.endpoint))) continue;
            pod.reached = true;
            this.pods = [pod, ...this.pods.filter((other) => other !== pod)];
            return true;
        }
        return false;
    }

    private async stillReady(): Promise<ReferencePod[]> {
        const isReady = async ({ name, endpoint }: ReferencePod) => {
            for await (const pod of this.untouched(`metadata.name=${name}`)) return endpointOf(pod) === endpoint;
            return false;
        };
        const ready = await Promise.all(this.pods.map(isReady));
        return this.pods.filter((_, index) => ready[index]);
    }

    /** Pods of owners of which none is known yet. */
    private async search(): Promise<ReferencePod[]> {
        const found: ReferencePod[] = [];
        let read = 0;
        for await (const pod of this.untouched()) {
            read++;
            const endpoint = endpointOf(pod);
            const { name, uid, ownerReferences = [] } = pod.metadata!;
            const owner = ownerReferences.find(({ controller }) => controller)?.uid ?? uid!;
            const isNew = [...this.pods, ...found].every((known) => known.owner !== owner);
            if (endpoint !== undefined && isNew) found.push({ name: name!, endpoint, owner, reached: false });
            if (read >= maxRead || this.pods.length + found.length >= maxPods) break;
        }
        this.searchAt = performance.now() + read * pauseMsPerRead;
        return found;
    }

    private untouched(fieldSelector = ""): AsyncGenerator<Pod> {
        const labelSelector = `!${labels.target},!${labels.experiment}`;
        const query = new URLSearchParams({ labelSelector, ...(fieldSelector && { fieldSelector }) });
        const path = `/api/v1/namespaces/${this.namespace}/pods?${query.toString()}`;
        return itemsOf<Pod>(path, "the pods that no attack touches cannot be listed");
    }
}

/** The first port of a pod that may be compared with. */
const endpointOf = (pod: Pod): string | undefined =>
    attackable(pod) && isReady(pod) ? endpointsOf(pod)[0] : undefined;

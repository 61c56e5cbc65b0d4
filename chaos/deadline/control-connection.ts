import { labels } from "../cluster/labels";
import { attackable, isReady, type Pod } from "../targets/containers";
import { endpointsOf, listed, log } from "./api";
import { control, type KeptConnections } from "./kept-connections";

const retryMs = 5_000;
/** Pods that are tried at a time: a NetworkPolicy of somebody else's may keep this pod from some. */
const maxTried = 5;

/** Keeps a connection to a ready pod of the namespace that no attack touches. */
export class ControlConnection {
    private pod?: string;
    private seeking = false;
    private soughtAt = -Infinity;

    constructor(
        private readonly namespace: string,
        private readonly kept: KeptConnections,
    ) {}

    /** Looks after it, without making anybody wait. @param labeled names of the pods that are attacked */
    tend(labeled: readonly string[]): void {
        if (this.pod !== undefined && labeled.includes(this.pod)) {
            this.kept.drop(control);
            this.pod = undefined;
            this.soughtAt = -Infinity;
        }
        if (this.seeking || !this.kept.lacks(control) || performance.now() - this.soughtAt < retryMs) return;
        this.seeking = true;
        this.soughtAt = performance.now();
        void this.seek()
            .catch(log)
            .finally(() => (this.seeking = false));
    }

    private async seek(): Promise<void> {
        const selector = encodeURIComponent(`!${labels.target},!${labels.experiment}`);
        const path = `/api/v1/namespaces/${this.namespace}/pods?labelSelector=${selector}`;
        let tried = 0;
        for await (const pod of listed<Pod>(path, "the pods that no attack touches cannot be listed")) {
            const [endpoint] = attackable(pod) && isReady(pod) ? endpointsOf(pod) : [];
            if (endpoint === undefined) continue;
            this.pod = pod.metadata!.name!;
            if ((await this.kept.open(control, endpoint)) || ++tried === maxTried) return;
        }
    }
}

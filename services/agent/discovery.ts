import { ApiError, type ApiServer, readApi, unread, watchApi } from "../../chaos/cluster/in-cluster-api";
import {
    attackable,
    containersOf,
    deploymentOf,
    type Discovered,
    type Pod,
    type ReplicaSet,
    replicaSetOf,
} from "../../chaos/targets/containers";
import { type Log, reasonOf } from "../shared/log";

const responseTimeoutMs = 10_000;

export const readerOf = (server: ApiServer) => ({
    get: <Answer>(path: string) => readApi<Answer>(path, { silenceMs: responseTimeoutMs }, server),
    /** @param silenceMs the connection counts as lost when nothing arrives for this long, in milliseconds */
    watch: (path: string, onLine: (line: string) => void, silenceMs: number) =>
        watchApi(path, onLine, { silenceMs }, server),
});
export type ApiReader = ReturnType<typeof readerOf>;

export interface DiscoveryArgs {
    api: ApiReader;
    node: string;
    clusterName: string;
    log: Log;
}

/** Small pages: lists of pods dominate the agent's memory. */
const podsPerPage = 100;
const retryMs = 1_000;
/** How long the API server keeps a watch open; it sends a bookmark about once a minute. */
const watchSeconds = 300;
const silenceMs = 90_000;

interface PodList {
    metadata: { resourceVersion: string; continue?: string };
    items: Pod[];
}

type WatchEvent = {
    type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
    object: Pod & { metadata: { resourceVersion: string } };
};

/**
 * The containers of one node, from a list and then a watch of its pods. Keeps only what the agent serves. When it loses
 * the watch, it keeps its view until it has listed the pods again.
 */
export class Discovery {
    private containers = new Map<string, Discovered[]>();
    private readonly deployments = new Map<string, Promise<string | undefined>>();
    private confirmedAt?: number;
    private stopped = false;

    constructor(private readonly args: DiscoveryArgs) {}

    *list(): Generator<Discovered> {
        for (const ofPod of this.containers.values()) yield* ofPod;
    }

    /** The number of containers, and the time since the API server confirmed them; undefined before the first list. */
    view(): { containers: number; ageMs: number } | undefined {
        if (this.confirmedAt === undefined) return undefined;
        let containers = 0;
        for (const ofPod of this.containers.values()) containers += ofPod.length;
        return { containers, ageMs: Date.now() - this.confirmedAt };
    }

    /** Keeps the view up to date until `stop`. */
    async run(): Promise<void> {
        while (!this.stopped) {
            try {
                let resourceVersion = await this.readAll();
                // After a regular end, the next watch continues at the same version.
                while (!this.stopped) resourceVersion = await this.follow(resourceVersion);
            } catch (error) {
                if (this.stopped) return;
                // 410 Gone is ordinary: the server no longer has the changes since that version.
                this.args.log[error instanceof ApiError && error.code === 410 ? "debug" : "warn"](
                    { cause: reasonOf(error) },
                    "listing the pods again",
                );
                await new Promise((resolve) => setTimeout(resolve, retryMs));
            }
        }
    }

    stop(): void {
        this.stopped = true;
    }

    private path(query: string): string {
        return `/api/v1/pods?fieldSelector=${encodeURIComponent(`spec.nodeName=${this.args.node}`)}&${query}`;
    }

    private async readAll(): Promise<string> {
        const found = new Map<string, Discovered[]>();
        let page = "";
        for (;;) {
            const { metadata, items } = await this.args.api.get<PodList>(
                this.path(`limit=${podsPerPage}${page && `&continue=${encodeURIComponent(page)}`}`),
            );
            for (const pod of items) {
                const containers = await this.describe(pod);
                if (containers.length > 0) found.set(pod.metadata!.uid!, containers);
            }
            if (!metadata.continue) {
                this.containers = found;
                this.confirmedAt = Date.now();
                return metadata.resourceVersion;
            }
            page = metadata.continue;
        }
    }

    private async follow(from: string): Promise<string> {
        let latest = from;
        // In sequence: an older state of a pod that waits for its owner must not overwrite a newer one.
        let applied: Promise<void> = Promise.resolve();
        let failure: Error | undefined;
        const onLine = (line: string) => {
            const { type, object } = JSON.parse(line) as WatchEvent;
            applied = applied
                .then(async () => {
                    if (type === "ERROR") throw unread((object as unknown as { code: number }).code, "the watch");
                    if (type !== "BOOKMARK") await this.apply(type, object);
                    latest = object.metadata.resourceVersion;
                    this.confirmedAt = Date.now();
                })
                .catch((error: Error) => void (failure ??= error));
        };
        await this.args.api.watch(
            this.path(`watch=true&allowWatchBookmarks=true&timeoutSeconds=${watchSeconds}&resourceVersion=${from}`),
            onLine,
            silenceMs,
        );
        await applied;
        if (failure !== undefined) throw failure;
        return latest;
    }

    private async apply(type: WatchEvent["type"], pod: Pod): Promise<void> {
        const containers = type === "DELETED" ? [] : await this.describe(pod);
        if (containers.length === 0) this.containers.delete(pod.metadata!.uid!);
        else this.containers.set(pod.metadata!.uid!, containers);
    }

    private async describe(pod: Pod): Promise<Discovered[]> {
        if (!attackable(pod)) return [];
        const replicaSet = replicaSetOf(pod);
        const deployment = replicaSet && (await this.deploymentOf(replicaSet, pod.metadata!.namespace!));
        return containersOf(pod, deployment, this.args.clusterName);
    }

    /** Read once per ReplicaSet: its owner never changes. */
    private deploymentOf({ name, uid }: { name: string; uid: string }, namespace: string): Promise<string | undefined> {
        const known = this.deployments.get(uid);
        if (known) return known;
        const asked = this.args.api
            .get<ReplicaSet>(`/apis/apps/v1/namespaces/${namespace}/replicasets/${name}`)
            .then(deploymentOf)
            .catch((error: unknown) => {
                this.deployments.delete(uid);
                // The ReplicaSet is gone, so its pods will go soon.
                if (error instanceof ApiError && error.code === 404) return undefined;
                throw error;
            });
        this.deployments.set(uid, asked);
        return asked;
    }
}

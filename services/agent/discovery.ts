import { setTimeout as sleep } from "node:timers/promises";
import { attackable, containersOf, type Discovered, type Owner, type Pod, replicaSetOf } from "../../shared/containers";
import { type Log, reasonOf } from "../shared/log";
import { ApiError, type ApiServer } from "./apiServer";

export interface DiscoveryArgs {
    api: ApiServer;
    node: string;
    clusterName: string;
    log: Log;
}

/** Few at once: the memory that lists of pods take is what an agent costs. */
const podsPerPage = 100;
const retryMs = 1_000;
/** The server is asked to end a watch after this and sends bookmarks about once a minute before. */
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
 * Knows the containers of one node: lists its pods, then watches them. Of a pod it keeps what it serves and nothing
 * else. Where the watch is lost it goes on with what it knew, and lists anew.
 */
export class Discovery {
    private containers = new Map<string, Discovered[]>();
    private readonly deployments = new Map<string, Promise<string | undefined>>();
    private confirmedAt?: number;
    private stopped = false;

    constructor(private readonly args: DiscoveryArgs) {}

    /** All containers that are known now, one after the other. */
    *list(): Generator<Discovered> {
        for (const ofPod of this.containers.values()) yield* ofPod;
    }

    /** How many containers are known, and the milliseconds since the API server last confirmed the view; undefined before the first list. */
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
                // A watch that ended in order is taken up where it ended.
                while (!this.stopped) resourceVersion = await this.follow(resourceVersion);
            } catch (error) {
                if (this.stopped) return;
                // 410 Gone: the server no longer has the changes since then, which is ordinary.
                this.args.log[error instanceof ApiError && error.status === 410 ? "debug" : "warn"](
                    { cause: reasonOf(error) },
                    "the view is made anew",
                );
                await sleep(retryMs);
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
        // One after the other, so that an older state of a pod, waiting for its owner, never comes after a newer one.
        let applied: Promise<void> = Promise.resolve();
        let failure: unknown;
        const onLine = (line: string) => {
            const { type, object } = JSON.parse(line) as WatchEvent;
            applied = applied
                .then(async () => {
                    if (type === "ERROR") throw new ApiError((object as unknown as { code: number }).code, "the watch");
                    if (type !== "BOOKMARK") await this.apply(type, object);
                    latest = object.metadata.resourceVersion;
                    this.confirmedAt = Date.now();
                })
                .catch((error: unknown) => void (failure ??= error));
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

    /** A ReplicaSet never changes its owner: it is asked for once. */
    private deploymentOf({ name, uid }: Owner, namespace: string): Promise<string | undefined> {
        const known = this.deployments.get(uid);
        if (known) return known;
        const asked = this.args.api
            .get<{ metadata: { ownerReferences?: Owner[] } }>(
                `/apis/apps/v1/namespaces/${namespace}/replicasets/${name}`,
            )
            .then(({ metadata }) => metadata.ownerReferences?.find(({ kind }) => kind === "Deployment")?.name)
            .catch((error: unknown) => {
                this.deployments.delete(uid);
                // Gone already: its pods are about to go, too.
                if (error instanceof ApiError && error.status === 404) return undefined;
                throw error;
            });
        this.deployments.set(uid, asked);
        return asked;
    }
}

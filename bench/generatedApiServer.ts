import type { V1Pod } from "@kubernetes/client-node";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { nodeLayout } from "../sandbox/node/layout";
import { pkiFiles } from "../sandbox/node/pki";

const podsPerDeployment = 10;

/** What an agent asks an API server, answered with pods that are nowhere. */
export interface GeneratedApiServer {
    port: number;
    /** The authority of its certificate, in PEM. */
    authority: string;
    /** Waits until somebody watches. */
    watched(): Promise<void>;
    /** Tells whoever watches that each pod changed. */
    changeAll(): void;
    /** Ends all watches as a server does that no longer has the changes since then: the list is asked for anew. */
    endWatches(): void;
    close(): void;
}

/**
 * Serves lists of as many pods as asked for, each like one of a real cluster, in the pages that are asked for.
 *
 * @param template a real pod, with all that an API server tells of one
 */
export async function generatedApiServer(template: V1Pod, pods: number): Promise<GeneratedApiServer> {
    const watches = new Set<ServerResponse>();
    const { certificate, key, clusterAuthority } = pkiFiles(nodeLayout());
    const server = createServer(
        { cert: readFileSync(certificate("apiserver")), key: readFileSync(key("apiserver")) },
        (request, response) => {
            const { pathname, searchParams } = new URL(request.url!, "https://127.0.0.1");
            if (searchParams.get("watch") === "true") {
                response.writeHead(200).flushHeaders();
                watches.add(response);
                response.on("close", () => watches.delete(response));
                return;
            }
            const pageOf = () =>
                page(template, pods, Number(searchParams.get("continue") ?? 0), Number(searchParams.get("limit")));
            response.end(
                JSON.stringify(pathname.includes("/replicasets/") ? replicaSet(pathname.split("/").at(-1)!) : pageOf()),
            );
        },
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const tell = (event: unknown) => watches.forEach((watch) => watch.write(`${JSON.stringify(event)}\n`));
    return {
        watched: async () => {
            while (watches.size === 0) await sleep(50);
        },
        port: (server.address() as AddressInfo).port,
        authority: readFileSync(clusterAuthority, "utf8"),
        changeAll: () =>
            Array.from({ length: pods }, (_, index) => tell({ type: "MODIFIED", object: podLike(template, index) })),
        endWatches: () => {
            tell({ type: "ERROR", object: { kind: "Status", code: 410, metadata: {} } });
            watches.forEach((watch) => watch.end());
            watches.clear();
        },
        close: () => {
            server.close();
            server.closeAllConnections();
        },
    };
}

function page(template: V1Pod, pods: number, first: number, limit: number) {
    const items = Array.from({ length: Math.min(limit, pods - first) }, (_, index) => podLike(template, first + index));
    const next = first + items.length;
    return {
        kind: "PodList",
        apiVersion: "v1",
        metadata: { resourceVersion: "1", ...(next < pods && { continue: String(next) }) },
        items,
    };
}

function podLike(template: V1Pod, index: number): V1Pod {
    const workload = `workload-${Math.floor(index / podsPerDeployment)}`;
    const ownerReferences = [
        { apiVersion: "apps/v1", kind: "ReplicaSet", name: workload, uid: `of-${workload}`, controller: true },
    ];
    return {
        ...template,
        metadata: {
            ...template.metadata,
            name: `${workload}-${index}`,
            uid: `pod-${index}`,
            resourceVersion: "1",
            ownerReferences,
        },
    };
}

function replicaSet(name: string) {
    return {
        metadata: {
            name,
            ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name, uid: `deployment-${name}` }],
        },
    };
}

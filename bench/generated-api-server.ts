import type { V1Pod } from "@kubernetes/client-node";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { nodeLayout } from "../sandbox/node/layout";
import { pkiFiles } from "../sandbox/node/pki";

const podsPerDeployment = 10;

export type GeneratedApiServer = Awaited<ReturnType<typeof generatedApiServer>>;

/**
 * Answers an agent's requests to the API server with pods that do not exist: a paged list of copies of a real pod.
 *
 * @param template the pod to copy
 * @param pods number of copies
 */
export async function generatedApiServer(template: V1Pod, pods: number) {
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
            const answer = pathname.includes("/replicasets/")
                ? replicaSet(pathname.split("/").at(-1)!)
                : page(template, pods, Number(searchParams.get("continue") ?? 0), Number(searchParams.get("limit")));
            response.end(JSON.stringify(answer));
        },
    );
    await once(server.listen(0, "127.0.0.1"), "listening");
    const tell = (event: unknown) => watches.forEach((watch) => watch.write(`${JSON.stringify(event)}\n`));
    return {
        /** Waits until a client watches. */
        watched: async () => {
            while (watches.size === 0) await sleep(50);
        },
        port: (server.address() as AddressInfo).port,
        /** The CA of its certificate, in PEM. */
        authority: readFileSync(clusterAuthority, "utf8"),
        /** Sends a change of each pod to all watches. */
        changeAll: () => {
            for (let index = 0; index < pods; index++) tell({ type: "MODIFIED", object: podLike(template, index) });
        },
        /** Ends all watches with status 410, as a server does that lost older changes: clients list again. */
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

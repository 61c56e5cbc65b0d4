import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { type Cluster, connect } from "../../../../chaos/cluster/client";
import { tryWithin } from "../../../../chaos/proof/try-within";
import { kubeconfigOf } from "../../../support/kubeconfig";

function tried(server: string, changed: Partial<Cluster> = {}) {
    const cluster = { ...connect({ kubeconfig: kubeconfigOf("test", server) }), ...changed };
    cluster.kubeconfig.setCurrentContext("test");
    const target = { namespace: "demo", pod: "hot-deals-1", container: "hot-deals" };
    return tryWithin(cluster, target, { lookup: "kubernetes" }, 100);
}

it("a probe that the API server refuses names the right that is missing", async () => {
    const message =
        'pods "hot-deals-1" is forbidden: User "ada" cannot create resource "pods/exec" in API group "" in the ' +
        'namespace "demo"';
    const body = JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", message, code: 403 });
    const server = createServer((_, response) =>
        response.writeHead(403, { "Content-Type": "application/json" }).end(body),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const result = await tried(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.close();
    expect(result).toEqual({
        problem:
            'nothing can be run in hot-deals-1/hot-deals: the account "ada" may not create pods/exec in namespace ' +
            "demo (403). Ask the cluster's administrator for that right, then check: kubectl --context test auth " +
            "can-i create pods --subresource=exec --namespace demo",
    });
});

it("a probe says why none of the API server's addresses can be reached", async () => {
    const error = new AggregateError([
        new Error("connect ECONNREFUSED ::1:1"),
        new Error("connect ETIMEDOUT 10.0.0.9"),
    ]);
    expect(await tried("http://localhost:1", { exec: () => Promise.reject(error) })).toEqual({
        problem: "nothing can be run in hot-deals-1/hot-deals: connect ECONNREFUSED ::1:1; connect ETIMEDOUT 10.0.0.9",
    });
});

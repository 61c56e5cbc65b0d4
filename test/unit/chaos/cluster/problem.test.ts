import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { ApiError, connect } from "../../../../chaos/cluster/client";
import { explain, problemOf } from "../../../../chaos/cluster/problem";
import { otherResources } from "../../../../chaos/cluster/resources";

const refused = (code: number, message: string) => new ApiError(code, JSON.stringify({ kind: "Status", message }));
const forbidden = (what: string) => refused(403, `x is forbidden: User "ada" cannot ${what}`);

it.each<[string, Error, RegExp]>([
    [
        "another login",
        new ApiError(401),
        /^the API server rejects your credentials \(401\)\. Log in .*: kubectl auth whoami$/,
    ],
    [
        "a right that is missing in a namespace",
        forbidden('list resource "pods" in API group "" in the namespace "demo"'),
        /^the account "ada" may not list pods in namespace demo .*: kubectl auth can-i list pods --namespace demo$/,
    ],
    [
        "a right that is missing in the whole cluster",
        forbidden('list resource "networkpolicies" in API group "networking.k8s.io" at the cluster scope'),
        /may not list networkpolicies in the whole.*can-i list networkpolicies\.networking\.k8s\.io --all-namespaces$/,
    ],
    [
        "a right to a subresource",
        forbidden('get resource "pods/proxy" in API group "" in the namespace "demo-agent"'),
        /may not get pods\/proxy in namespace demo-agent.*can-i get pods --subresource=proxy --namespace demo-agent$/,
    ],
    ["another refusal", refused(403, "no: exceeded."), /^the API server refuses this \(403\): “no: exceeded”$/],
    [
        "a namespace that is missing",
        refused(404, 'namespaces "dmeo" not found'),
        /^namespace dmeo does not exist in this cluster\. .*: kubectl get namespaces$/,
    ],
    [
        "another object",
        refused(404, 'pods "a" not found.'),
        /^the API server answered with status 404: “pods "a" not found”$/,
    ],
    ["another status", new ApiError(502, "<html>"), /^the API server answered with status 502$/],
    ["another error", new Error("connect ECONNREFUSED."), /^connect ECONNREFUSED$/],
])("%s is told in a sentence, with what to do", (_, error, problem) => {
    expect(problemOf(error)).toMatch(problem);
    expect(problemOf(error)).not.toMatch(/HTTP-Code|Body:/);
});

it("an error that is told alone keeps its last period", () =>
    expect(explain(new Error("It was refused. Try again."))).toBe("It was refused. Try again."));

describe("an API server", () => {
    const folder = mkdtempSync(join(tmpdir(), "chaos-shop-problems-"));
    afterAll(() => {
        vi.unstubAllEnvs();
        rmSync(folder, { recursive: true });
    });

    async function problemAt(server: string): Promise<string> {
        const file = join(folder, "kubeconfig");
        const clusters = [{ name: "test", cluster: { server } }];
        const contexts = [{ name: "test", context: { cluster: "test", user: "test" } }];
        writeFileSync(file, JSON.stringify({ clusters, contexts, users: [{ name: "test", user: {} }] }));
        vi.stubEnv("KUBECONFIG", file);
        return connect({ context: "test" }, 200)
            .all(otherResources.namespace)
            .then(() => "none", problemOf);
    }

    /** A server on this machine that does this with each connection. */
    async function at(onConnection: (socket: import("node:net").Socket) => void, close: boolean): Promise<string> {
        const server = createServer(onConnection);
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        const { port } = server.address() as AddressInfo;
        if (close) await new Promise((resolve) => server.close(resolve));
        else server.unref();
        return `https://127.0.0.1:${port}`;
    }

    it("that refuses connections is told with its address", async () => {
        const server = await at(() => undefined, true);
        expect(await problemAt(server)).toBe(
            `the API server at ${server} refuses connections. Make sure that the cluster runs and that this machine ` +
                "can reach it: kubectl --context test cluster-info",
        );
    });

    it("that accepts connections and says nothing is told so", async () =>
        expect(await problemAt(await at((socket) => void socket.unref(), false))).toMatch(
            /^the API server did not answer in time\. .*kubectl --context test cluster-info$/,
        ));

    it("that speaks no TLS is told with the reason", async () =>
        expect(
            await problemAt(await at((socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"), false)),
        ).toMatch(/^the API server at https:\/\/127\.0\.0\.1:\d+ cannot be asked: .+\. Make sure/));

    it("whose name does not exist is told so", async () =>
        expect(await problemAt("https://cluster.invalid:6443")).toMatch(
            /^the API server at https:\/\/cluster\.invalid:6443 has an address that (does not exist|cannot be)/,
        ));
});

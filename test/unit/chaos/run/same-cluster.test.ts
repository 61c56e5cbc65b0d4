import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Plan } from "../../../../chaos/definition/plan";
import { printed } from "../../../../chaos/run/contract";
import { outputIfSameCluster } from "../../../../chaos/run/same-cluster";

const plan = { experiment: "e", namespace: "demo" } as Plan;
let server: Server;
/** Of the namespace, in the cluster that the kubeconfig leads to. Undefined if there is none. */
let uid: string | undefined;
beforeEach(async () => {
    uid = "one";
    server = createServer((_, answer) => {
        answer.writeHead(uid === undefined ? 404 : 200, { "content-type": "application/json" });
        answer.end(JSON.stringify({ kind: "Namespace", apiVersion: "v1", metadata: { name: "demo", uid } }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => server.close());

function again(earlier: string): Promise<string> {
    const { port } = server.address() as AddressInfo;
    const kubeconfig = JSON.stringify({
        clusters: [{ name: "c", cluster: { server: `http://127.0.0.1:${port}` } }],
        contexts: [{ name: "other", context: { cluster: "c", user: "u" } }],
        users: [{ name: "u", user: {} }],
        "current-context": "other",
    });
    return outputIfSameCluster({ kubeconfig }, plan, earlier);
}
const began = JSON.stringify({ runName: "e-1", namespaceUid: "one" });

describe("an update that gives an enabled experiment other settings", () => {
    it("keeps what its first step printed, in the same cluster", async () => expect(await again(began)).toBe(began));

    it.each([
        ["has another namespace of that name", "two"],
        ["has no such namespace", undefined],
    ])("fails if they lead to a cluster that %s: nothing would be undone where the run began", async (seen, other) => {
        uid = other;
        await expect(again(began)).rejects.toThrow(`the context other leads to a cluster that ${seen}. Go back to`);
    });

    it("fails so, too, if the first step had much to print", async () => {
        uid = "two";
        const checks = Array.from({ length: 1_000 }, (_, at) => ({ name: `check-${at}`, answers: [] }));
        await expect(again(printed({ checks, namespaceUid: "one" }))).rejects.toThrow("has another namespace");
    });

    it.each([JSON.stringify({ runName: "e-1" }), ""])(
        "asks nothing of a run that did not say where: %j",
        async (earlier) => {
            let asked = 0;
            server.on("request", () => asked++);
            expect(await again(earlier)).toBe(earlier);
            expect(asked).toBe(0);
        },
    );
});

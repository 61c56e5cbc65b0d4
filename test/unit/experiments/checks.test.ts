import type { V1Pod } from "@kubernetes/client-node";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { checkName } from "../../../experiments/checks/check";
import { askOverHttp, type HttpCheck, problemWith } from "../../../experiments/checks/http";
import { sleptSince } from "../../../experiments/checks/window";
import { podsReady, readyAmong } from "../../../experiments/checks/podsReady";
import { productsCheck } from "../../../experiments/checks/products";
import type { Cluster } from "../../../shared/kubernetes";

const whole = {
    fashionResponse: { products: [{ id: "1" }] },
    toysResponse: { products: [{}] },
    hotDealsResponse: { products: [{}] },
};
const problem = (check: Partial<HttpCheck>, status: number, body: unknown) =>
    problemWith({ kind: "http", path: "/", ...check }, status, typeof body === "string" ? body : JSON.stringify(body));

describe("an answer is good or not", () => {
    it.each<[string, Partial<HttpCheck>, number, unknown, string | undefined]>([
        ["the whole listing", productsCheck, 200, whole, undefined],
        [
            "a listing with an empty list",
            productsCheck,
            200,
            { ...whole, toysResponse: { products: [] } },
            "status 200, but toysResponse.products lists nothing, and at least 1 were asked for",
        ],
        [
            "a listing without a list",
            productsCheck,
            200,
            { fashionResponse: whole.fashionResponse },
            "status 200, but toysResponse.products is missing",
        ],
        ["a listing that is none", productsCheck, 200, "<html>", "status 200, but the body is not JSON"],
        [
            "a problem document",
            productsCheck,
            502,
            { title: "Bad Gateway", detail: "hot-deals refused the connection." },
            "status 502: hot-deals refused the connection.",
        ],
        ["another status than the one asked for", { status: 202 }, 200, {}, "status 200: {}"],
        ["a status in the range asked for", { status: [200, 404] }, 404, "", undefined],
        ["any success where no status is asked for", {}, 204, "", undefined],
        ["a redirect where no status is asked for", {}, 302, "", "status 302: "],
        [
            "a value as asked for",
            { json: [{ path: "fashionResponse.products.0.id", equals: "1" }] },
            200,
            whole,
            undefined,
        ],
        [
            "another value than asked for",
            { json: [{ path: "state", equals: "FULFILLED" }] },
            200,
            { state: "ACCEPTED" },
            'status 200, but state is "ACCEPTED" instead of "FULFILLED"',
        ],
        [
            "no list where one is asked for",
            { json: [{ path: "state", atLeast: 1 }] },
            200,
            { state: "x" },
            "status 200, but state is no list",
        ],
        [
            "what every object has, and the document does not",
            { json: [{ path: "constructor" }] },
            200,
            {},
            "status 200, but constructor is missing",
        ],
    ])("%s", (_, check, status, body, expected) => expect(problem(check, status, body)).toBe(expected));
});

describe("a check over HTTP", () => {
    const asked: { request: IncomingMessage; body: string }[] = [];
    let server: Server;
    let delayMs = 0;
    const ask = (check: Partial<HttpCheck>, timeoutMs = 2_000) =>
        askOverHttp(
            { kind: "http", path: "/orders", ...check },
            {} as Cluster,
            { kind: "address", url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
            timeoutMs,
        );

    beforeAll(async () => {
        server = createServer(async (request, response) => {
            asked.push({ request, body: Buffer.concat(await request.toArray()).toString() });
            setTimeout(() => response.end("{}"), delayMs);
        }).listen(0, "127.0.0.1");
        await once(server, "listening");
    });
    afterAll(() => server.close());

    it("sends its method, headers and body, with another UUID in each request", async () => {
        const check: Partial<HttpCheck> = {
            method: "POST",
            headers: { "Idempotency-Key": "{uuid}" },
            body: { items: [1] },
        };
        expect(await ask(check)).toMatchObject({ good: true, status: 200 });
        await ask(check);
        const [first, second] = asked.splice(0);
        expect(first!.request).toMatchObject({
            method: "POST",
            url: "/orders",
            headers: { "content-type": "application/json" },
        });
        expect(first!.body).toBe('{"items":[1]}');
        expect(first!.request.headers["idempotency-key"]).toMatch(/^[0-9a-f-]{36}$/);
        expect(second!.request.headers["idempotency-key"]).not.toBe(first!.request.headers["idempotency-key"]);
    });

    it("takes an answer that is too slow for none, though it came", async () => {
        delayMs = 60;
        expect(await ask({ maxLatencyMs: 20 })).toMatchObject({
            good: false,
            status: 200,
            problem: expect.stringMatching(/^status 200 after \d+ ms, and at most 20 ms were asked for$/),
        });
    });

    it("waits no longer than its time-out", async () => {
        delayMs = 500;
        expect(await ask({}, 50)).toMatchObject({ good: false, problem: "no answer within 50 ms" });
    });

    it("is called by its method and path", () => {
        expect(
            [{}, { method: "POST" as const }, { name: "ordering" }].map((changes) =>
                checkName({ kind: "http", path: "/orders", ...changes }),
            ),
        ).toEqual(["/orders", "POST /orders", "ordering"]);
    });
});

it("how long this machine slept is what the clock went on by, and the time awake did not", () => {
    const sleptMs = sleptSince();
    expect(Math.abs(sleptMs())).toBeLessThan(100);
    const awake = Date.now;
    const clock = vi.spyOn(Date, "now").mockImplementation(() => awake() + 60_000);
    expect(sleptMs()).toBeGreaterThan(59_900);
    clock.mockRestore();
});

describe("pods that are ready", () => {
    const pod = (name: string, ready: boolean, changes: Partial<V1Pod["metadata"]> = {}): V1Pod => ({
        metadata: {
            name,
            namespace: "demo",
            uid: name,
            ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "set", uid: "set" }],
            ...changes,
        },
        spec: { containers: [{ name: "hot-deals" }] },
        status: {
            phase: "Running",
            podIP: "10.0.0.1",
            conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
        },
    });
    const replicaSets = [
        {
            metadata: {
                uid: "set",
                ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "hot-deals", uid: "d" }],
            },
        },
    ];
    const pods = [
        pod("a", true),
        pod("b", false),
        pod("c", true, { deletionTimestamp: new Date() }),
        pod("d", true, { ownerReferences: [] }),
    ];

    it("are counted where they serve and are described, not where they go", () =>
        expect(readyAmong(pods, replicaSets, "k8s.deployment=hot-deals", "local")).toBe(1));

    it("are not known where the API server does not answer, which is no word of the shop's", async () => {
        const listed = (items: Promise<V1Pod[]>) =>
            ({
                core: { listNamespacedPod: async () => ({ items: await items }) },
                apps: { listNamespacedReplicaSet: async () => ({ items: replicaSets }) },
            }) as unknown as Cluster;
        const ask = (cluster: Cluster) =>
            podsReady.ask(
                { kind: "podsReady", of: "k8s.deployment=hot-deals" },
                { cluster, shopNamespace: "demo", clusterName: "local", route: { kind: "address", url: "" } },
                200,
            );
        expect(await ask(listed(Promise.resolve(pods)))).toMatchObject({ good: true });
        expect(await ask(listed(Promise.resolve([])))).not.toHaveProperty("unseen");
        expect(await ask(listed(Promise.reject(new Error("connect ECONNREFUSED"))))).toMatchObject({
            good: false,
            unseen: true,
        });
        expect(await ask(listed(new Promise(() => {})))).toMatchObject({ good: false, unseen: true });
    });
});

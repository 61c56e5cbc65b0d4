import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { describe, expect, it } from "vitest";
import { askOverHttp, http, type HttpCheck, problemWith } from "../../../../../chaos/kinds/checks/http";
import { checkName } from "../../../../../chaos/kinds/checks/registry";
import { isOfThisMachine } from "../../../../../chaos/kinds/checks/request-parts";
import type { Cluster } from "../../../../../chaos/cluster/client";
import { productsCheck } from "../../../../../experiments/products";
import { kubeconfigFrom } from "../../../../../chaos/cluster/kubeconfig";
import { kubeconfigOf } from "../../../../support/kubeconfig";
import { closedPort, recording, serve, statusObject } from "./support";

const whole = {
    fashionResponse: { products: [{ id: "1" }] },
    toysResponse: { products: [{}] },
    hotDealsResponse: { products: [{}] },
};
const problem = (check: Partial<HttpCheck>, status: number, body: unknown) =>
    problemWith({ kind: "http", path: "/", ...check }, status, typeof body === "string" ? body : JSON.stringify(body));

describe("an answer is good only if it is what the check requires", () => {
    const without = (...lists: string[]) =>
        Object.fromEntries(Object.entries(whole).filter(([key]) => !lists.includes(key)));
    const refused = "hot-deals refused the connection.";
    const fulfilled = { json: [{ path: "state", equals: "FULFILLED" }] };

    it.each<[string, Partial<HttpCheck>, number, unknown, string | undefined]>([
        ["the whole listing", productsCheck, 200, whole, undefined],
        [
            "a listing with an empty list",
            productsCheck,
            200,
            { ...whole, toysResponse: { products: [] } },
            "status 200, but toysResponse.products has 0 items (required: at least 1)",
        ],
        [
            "one without a list",
            productsCheck,
            200,
            without("toysResponse"),
            "status 200, but toysResponse.products is missing",
        ],
        ["a listing that is not JSON", productsCheck, 200, "<html>", "status 200, but the body is not JSON"],
        ["a problem document", productsCheck, 502, { title: "Bad", detail: refused }, `status 502: “${refused}”`],
        ["a status other than the required one", { status: 202 }, 200, {}, "status 200: “{}”"],
        ["a status in the required range", { status: [200, 404] }, 404, "", undefined],
        ["any success if no status is required", {}, 204, "", undefined],
        ["a redirect if no status is required", {}, 302, "", "status 302: “”"],
        ["the required value", fulfilled, 200, { state: "FULFILLED" }, undefined],
        ["another value", fulfilled, 200, { state: "A" }, 'status 200, but state is "A" (required: "FULFILLED")'],
        [
            "neither a number nor a list",
            { json: [{ path: "state", atLeast: 1 }] },
            200,
            { state: "x" },
            "status 200, but state is neither a number nor a list",
        ],
        [
            "a number within its limits",
            { json: [{ path: "waiting", atLeast: 0, atMost: 20 }] },
            200,
            { waiting: 20 },
            undefined,
        ],
        [
            "a number beyond them",
            { json: [{ path: "waiting", atLeast: 0, atMost: 20 }] },
            200,
            { waiting: 21 },
            "status 200, but waiting is 21 (required: at least 0 and at most 20)",
        ],
        [
            "a list that is too long",
            { json: [{ path: "failed", atMost: 1 }] },
            200,
            { failed: ["a", "b"] },
            "status 200, but failed has 2 items (required: at most 1)",
        ],
        [
            "a property that every object inherits, and the document does not have",
            { json: [{ path: "constructor" }] },
            200,
            {},
            "status 200, but constructor is missing",
        ],
    ])("%s", (_, check, status, body, expected) => expect(problem(check, status, body)).toBe(expected));
});

const askAt = (url: string, check: Partial<HttpCheck>, timeoutMs = 2_000) =>
    askOverHttp({ kind: "http", path: "/orders", ...check }, {} as Cluster, { kind: "address", url }, timeoutMs);

describe("a check over HTTP", () => {
    it("sends its method, headers and body, with a new UUID in each request", async () => {
        const { url, asked } = await recording();
        const check = { method: "POST", headers: { "Idempotency-Key": "{uuid}" }, body: { items: [1] } };
        for (let round = 0; round < 2; round++)
            expect(await askAt(url, check)).toMatchObject({ good: true, status: 200 });
        const headers = { "content-type": "application/json" };
        expect(asked[0]).toMatchObject({ method: "POST", url: "/orders", headers, body: '{"items":[1]}' });
        const [first, second] = asked.map((one) => one.headers["idempotency-key"]);
        expect(first).toMatch(/^[0-9a-f-]{36}$/);
        expect(second).not.toBe(first);
    });

    it("begins a trace with each request, and names that of a bad answer", async () => {
        const { url, asked } = await recording();
        expect(await askAt(url, { maxLatencyMs: 2_000 })).not.toHaveProperty("traceId");
        const { traceId } = await askAt(url, { status: 500 });
        const [first, second] = asked.map(({ headers }) => headers.traceparent);
        // As https://www.w3.org/TR/trace-context/#traceparent-header says.
        expect(first).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-01$/);
        expect(second).toMatch(new RegExp(`^00-${traceId}-`));
        expect(first!.slice(3, 35)).not.toBe(traceId);
    });

    it("leaves the trace to a definition that has the header", async () => {
        const { url, asked } = await recording();
        const own = `00-${"a".repeat(32)}-${"b".repeat(16)}-00`;
        expect(await askAt(url, { status: 500, headers: { Traceparent: own } })).not.toHaveProperty("traceId");
        expect(asked[0]!.headers.traceparent).toBe(own);
    });

    it("rejects an answer that is too slow, and waits no longer than its timeout", async () => {
        const { url } = await recording((_, response) => void setTimeout(() => response.end("{}"), 500));
        expect(await askAt(url, { maxLatencyMs: 20 })).toMatchObject({
            good: false,
            status: 200,
            problem: expect.stringMatching(/^status 200 after \d+ ms(?:, of which .*)? \(required: at most 20 ms\)$/),
        });
        expect(await askAt(url, {}, 50)).toMatchObject({ good: false, problem: "no answer within 50 ms" });
    });

    it.each<[string, Partial<HttpCheck>]>([
        ["/orders", {}],
        ["POST /orders", { method: "POST" }],
        ["ordering", { name: "ordering", method: "POST" }],
        ["https://shop.example/orders", { url: "https://shop.example/" }],
        ["/orders of shop", { service: "shop" }],
        ["POST /orders of shop", { service: "shop", method: "POST" }],
    ])("is named %s with %j", (name, fields) =>
        expect(checkName({ kind: "http", path: "/orders", ...fields })).toBe(name),
    );
});

describe("a check through the API server", () => {
    const askThrough = (port: number, check: Partial<HttpCheck> = {}) => {
        const kubeconfig = kubeconfigFrom(kubeconfigOf("kind-a", `http://127.0.0.1:${port}`));
        const route = { kind: "apiServer", path: "/api/v1/namespaces/demo/services/gateway:80/proxy" } as const;
        return askOverHttp({ kind: "http", path: "/", ...check }, { kubeconfig } as never, route, 500);
    };
    /** What is said of an answer that comes through the API server's proxy. */
    const said = async (code: number, body: string, check: Partial<HttpCheck> = {}) =>
        askThrough(await serve((_, response) => response.writeHead(code).end(body)), check);

    it("names the right that the account lacks for the API server's proxy", async () => {
        const right = 'cannot get resource "services/proxy" in API group "" in the namespace "demo"';
        const body = statusObject(403, `services "gateway:80" is forbidden: User "ada" ${right}`);
        expect((await said(403, body)).problem).toMatch(
            /status 403: the account "ada" may not get services\/proxy in namespace demo .*can-i get services --sub/,
        );
    });

    it.each<[number, string]>([
        [401, statusObject(401, "Unauthorized")],
        [403, statusObject(403, 'services "gateway" is forbidden: User "ada" cannot get resource "services/proxy"')],
        [429, statusObject(429, "Too many requests")],
        [429, "Too many requests, please try again later.\n"],
        [429, "The apiserver is shutting down, please try again later.\n"],
        [500, 'Internal Server Error: "/api/v1/namespaces/demo/services/gateway:80/proxy/": context canceled\n'],
        [500, statusObject(500, "etcdserver: request timed out")],
        [502, statusObject(502, "the server was unable to respond")],
        [503, statusObject(503, "error trying to reach service: No agent available")],
        [504, statusObject(504, "request did not complete within the allotted timeout")],
    ])("knows nothing about the application from the API server's own %i: %s", async (code, body) => {
        expect(await said(code, body)).toMatchObject({ good: false, unseen: true });
        expect(await said(code, body, { status: code })).toMatchObject({ good: false, unseen: true });
    });

    it.each<[number, string]>([
        [503, statusObject(503, 'no endpoints available for service "gateway"')],
        [503, statusObject(503, "error trying to reach service: dial tcp 10.0.0.1:8080: connect: connection refused")],
        [401, '{"message":"Unauthorized"}'],
        [429, "Too many requests, please try again later."],
        [502, '{"title":"Bad Gateway","detail":"hot-deals refused the connection."}'],
        [200, '{"kind":"Status","state":"ACCEPTED"}'],
    ])(
        "takes for the application's what the Service answers, or that it cannot be reached: %i %s",
        async (code, body) => {
            const answered = await said(code, body);
            expect(answered).toMatchObject({ good: code === 200, status: code });
            expect(answered).not.toHaveProperty("unseen");
        },
    );

    it("knows nothing about the application from a connection that the API server resets or refuses", async () => {
        const problem = expect.stringMatching(/^the API server could not be asked: /);
        const resetting = await serve((_, response) => response.socket!.resetAndDestroy());
        expect(await askThrough(resetting)).toMatchObject({ unseen: true, problem });
        const refused = expect.stringContaining("ECONNREFUSED");
        expect(await askThrough(await closedPort())).toMatchObject({ unseen: true, problem: refused });
    });
});

describe("a check by address knows nothing about the application", () => {
    it("if this machine does not find the address of its host", async () => {
        expect(await askAt("http://gateway.invalid", {}, 5_000)).toMatchObject({ good: false, unseen: true });
    });

    const failed = (code: string) => Object.assign(new Error(`connect ${code}`), { code });
    it.each([
        ["ENETUNREACH", failed("ENETUNREACH"), true],
        ["EAI_AGAIN", failed("EAI_AGAIN"), true],
        ["ECONNREFUSED", failed("ECONNREFUSED"), false],
        ["EHOSTUNREACH, which a rejecting network answers", failed("EHOSTUNREACH"), false],
        ["no code", new Error("socket hang up"), false],
        ["no network for each address", new AggregateError([failed("ENETUNREACH"), failed("ENETUNREACH")]), true],
        ["no network for one of two", new AggregateError([failed("ENETUNREACH"), failed("ECONNREFUSED")]), false],
    ])("from %s (%j): %s", (_, error, unseen) => expect(isOfThisMachine(error)).toBe(unseen));
});

describe("a check's method", () => {
    /** Node's own server rejects methods that it does not know. */
    async function lineOf(check: Partial<HttpCheck>): Promise<string | undefined> {
        let line: string | undefined;
        const server = createTcpServer((socket) =>
            socket.on("data", (bytes) => {
                line ??= bytes.toString().split("\r\n")[0];
                socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            }),
        ).listen(0, "127.0.0.1");
        await once(server, "listening");
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        expect(await askAt(url, { path: "/a", ...check })).toMatchObject({ good: true });
        server.close();
        return line;
    }

    it.each(["BAN", "PURGE", "QUERY", "ban", "Query", "!#$%&'*+-.^_`|~0"])("may be %s", async (method) => {
        expect(http.schema.safeParse({ kind: "http", path: "/", method }).success).toBe(true);
        expect(await lineOf({ method })).toBe(`${method} /a HTTP/1.1`);
        expect(await lineOf({ method, body: { a: 1 } })).toBe(`${method} /a HTTP/1.1`);
    });

    it.each(["", "get", "Post", "GET /", "G(T)", "CONNECT", "x".repeat(129)])("may not be %j", (method) =>
        expect(http.schema.safeParse({ kind: "http", path: "/", method }).success).toBe(false),
    );

    it.each([
        ["PURGE", []],
        ["get", []],
        ["QUERY", []],
        ["POST", ["create"]],
        ["OPTIONS", ["*"]],
    ])("%s takes no right to a proxy that does not pass it on", (method, verbs) => {
        const check: HttpCheck = { kind: "http", path: "/", method, service: "cache", port: 80 };
        const rights = http.rights(check, { defaultNamespace: "demo" });
        expect(rights.filter(({ resource }) => resource === "services/proxy").flatMap((one) => one.verbs)).toEqual(
            verbs,
        );
    });
});

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Check, checkKindOf, checkKinds } from "../../../../../chaos/kinds/checks/registry";
import { planOf } from "../../../../../chaos/definition/plan";
import { makeCertificate } from "../../../../support/certificate";
import { FakeCluster } from "../../support/fake-cluster";
import { addService, base64, contextOf, serve, serveHttp2, useApiServer } from "./support";

/** A check without a field, and what makes it one with the field. Both are what a definition may say. */
type Row = [without: object, field: object];

let cluster: FakeCluster;
let port: number;
let tlsPort: number;
/** The same, over HTTP/2. */
let grpcPort: number;
let grpcTlsPort: number;
const folder = mkdtempSync(join(tmpdir(), "chaos-shop-fields-"));
let pem: { key: string; cert: string };
beforeAll(() => {
    const { keyFile, certificateFile } = makeCertificate(folder, "DNS:shop.example");
    pem = { key: readFileSync(keyFile, "utf8"), cert: readFileSync(certificateFile, "utf8") };
});
afterAll(() => rmSync(folder, { recursive: true }));

const asked: { by: string; request: Pick<IncomingMessage, "method" | "url" | "headers">; body: string }[] = [];

beforeEach(async () => {
    asked.length = 0;
    const answering = (by: string) => async (request: IncomingMessage, response: ServerResponse) => {
        const body = Buffer.concat((await request.toArray()) as Buffer[]).toString();
        const { traceparent: _, host: __, ...headers } = request.headers;
        asked.push({ by, request: { method: request.method, url: request.url, headers }, body });
        if (request.url === "/slow") await sleep(30);
        const resources = [
            { name: "deployments", kind: "Deployment", namespaced: true },
            { name: "nodes", kind: "Node", namespaced: false },
        ];
        const conditions = [{ type: "Available", status: "True" }];
        response.end(
            JSON.stringify({
                ...{ status: "success", data: { resultType: "vector", result: [] }, a: 1 },
                ...(request.url!.startsWith("/api") && { resources, status: { conditions, replicas: 2 } }),
                ...(request.url!.includes("query=") && { status: "success" }),
                ...(request.url!.includes("query=up") && {
                    data: { resultType: "scalar", result: [1, "1"] },
                }),
            }),
        );
    };
    const handler = (by: string) => (request: IncomingMessage, response: ServerResponse) =>
        void answering(by)(request, response);
    port = await serve(handler("plain"));
    tlsPort = await serve(handler("tls"), pem);
    const serving = (by: string) => (stream: ServerHttp2Stream, all: IncomingHttpHeaders) => {
        const { traceparent: _, ":path": url, ":authority": __, ...headers } = all;
        stream.on("data", (part: Buffer) => (body += part.toString()));
        let body = "";
        const answer = () => {
            asked.push({ by, request: { method: "POST", url: url as string, headers }, body });
            stream.respond({ "content-type": "application/grpc" }, { waitForTrailers: true });
            stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
            stream.end(Buffer.from([0, 0, 0, 0, 2, 8, 1]));
        };
        stream.on("end", () => (body.includes("slow") ? setTimeout(answer, 30) : answer()));
    };
    grpcPort = await serveHttp2(serving("grpc"));
    grpcTlsPort = await serveHttp2(serving("grpcs"), pem);
    cluster = new FakeCluster();
    useApiServer(cluster, await serve(handler("API server")));
    for (const namespace of ["demo", "other"]) {
        cluster.add("Namespace", namespace);
        addService(
            cluster,
            "orders",
            [
                { name: "web", port },
                { name: "tls", port: tlsPort },
                { name: "grpc", port: grpcPort },
                { name: "grpc-tls", port: grpcTlsPort },
            ],
            "127.0.0.1",
            namespace,
        );
        cluster.add("Secret", "keys", { data: { key: base64(`key of ${namespace}`), second: base64("2") } }, namespace);
        cluster.add("ConfigMap", "ca", { data: { "ca.crt": pem.cert } }, namespace);
    }
    addService(cluster, "prometheus", [{ port: 9_090 }, { port }]);
    cluster.add("Pod", "a", {
        spec: { containers: [{ name: "a" }] },
        status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
    });
});

const planArgs = {
    ...{
        name: "a",
        run: "1",
        area: "Global",
        defaultChecks: [],
        intervalMs: 1_000,
        timeoutMs: 2_000,
        successRate: 0.9,
    },
    ...{ durationMs: 30_000, graceMs: 0, onFailure: "report" as const, clusterName: "local", defaultNamespace: "demo" },
    ...{ context: "kind-a", reports: "reports" },
};

/** All that a check does and says, as far as it is the same each time. */
async function effectsOf(check: Check) {
    const kind = checkKindOf(check);
    expect(kind.schema.safeParse(check).error?.issues).toBeUndefined();
    const service = { namespace: "demo", name: "orders", port };
    const plan = planOf({ ...planArgs, service, definition: { hypothesis: "", checks: [check] } });
    const { check: _, ...planned } = plan.checks[0]!;
    asked.length = 0;
    const route = { kind: "address", url: `http://127.0.0.1:${port}` } as const;
    const { good, problem, status, unseen } = await kind.probe(check, contextOf(cluster, { route }), planned.timeoutMs);
    return { planned, good, problem, status, unseen, asked: [...asked] };
}

const settings = (base: object): Record<string, Row> => ({
    name: [base, { name: "another" }],
    perSecond: [base, { perSecond: 7 }],
    timeoutMs: [base, { timeoutMs: 1_500 }],
    successRate: [base, { successRate: 0.5 }],
    latency: [base, { latency: { p50: { atMost: "2x" } } }],
    confidence: [base, { confidence: { atLeast: "50%" } }],
    abortBelow: [base, { abortBelow: "10%" }],
    abortOver: [{ ...base, abortBelow: "10%" }, { abortOver: "20s" }],
});

const overHttp = () => ({ port, tlsPort, tls: "tls" });
const overHttp2 = () => ({ port: grpcPort, tlsPort: grpcTlsPort, tls: "grpc-tls" });

/** Of what is asked over HTTP. @param base without an endpoint. @param at over which protocol */
const endpoint = (base: object, at = overHttp) => {
    const url = () => ({ ...base, url: `http://127.0.0.1:${at().port}` });
    const tls = (name = "shop.example") => ({ ...base, url: `https://127.0.0.1:${at().tlsPort}`, serverName: name });
    const key = { secret: "keys", key: "key" };
    const ofService = () => ({ ...base, service: "orders", port: at().port });
    const rows: Record<string, () => Row> = {
        url: () => [ofService(), { service: undefined, port: undefined, url: `http://127.0.0.1:${at().port}/below` }],
        service: () => [{ ...url() }, { url: undefined, service: "orders", port: at().tlsPort, scheme: "https" }],
        namespace: () => [{ ...url(), headersFrom: { "x-key": key } }, { namespace: "other" }],
        port: () => [ofService(), { port: at().tls, scheme: "https" }],
        scheme: () => [ofService(), { scheme: "https" }],
        ca: () => [tls(), { ca: pem.cert }],
        caFrom: () => [tls(), { caFrom: { name: "ca" } }],
        serverName: () => [{ ...tls("other.example"), ca: pem.cert }, { serverName: "shop.example" }],
        headers: () => [url(), { headers: { "x-scope-orgid": "shop" } }],
        headersFrom: () => [url(), { headersFrom: { authorization: { ...key, prefix: "Bearer " } } }],
        queryFrom: () => [url(), { queryFrom: { session: key } }],
    };
    return rows;
};

const http = { kind: "http", path: "/orders" };
const posting = { ...http, method: "POST", url: "http://127.0.0.1:1" };
const prometheus = { kind: "prometheus", query: "up", atLeast: 1 };
const podsReady = { kind: "podsReady", of: "k8s.pod.name=a" };
const condition = {
    ...{ kind: "condition", type: "Available" },
    of: { apiVersion: "apps/v1", kind: "Deployment", name: "orders" },
};
const field = { ...condition, type: undefined, field: "status.replicas", atLeast: 1 };
const command = { kind: "command", command: ["sh", "-c", "exit $CODE"], env: { CODE: "0" } };
const at = () => `http://127.0.0.1:${port}`;
const grpc = { kind: "grpc", url: "http://127.0.0.1:1" };
const { queryFrom: _, ...grpcEndpoint } = endpoint({ kind: "grpc" }, overHttp2);

const tables: Record<Check["kind"], Record<string, Row | (() => Row)>> = {
    http: {
        ...settings(http),
        ...endpoint(http),
        path: [http, { path: "/other" }],
        method: [http, { method: "PURGE" }],
        body: () => [{ ...posting, url: at() }, { body: { a: 1 } }],
        bodyFrom: () => [{ ...posting, url: at() }, { bodyFrom: { "login.key": { secret: "keys", key: "key" } } }],
        status: [http, { status: 404 }],
        json: [http, { json: [{ path: "b" }] }],
        maxLatencyMs: [{ ...http, path: "/slow" }, { maxLatencyMs: 5 }],
    },
    grpc: {
        ...settings(grpc),
        ...grpcEndpoint,
        healthService: () => [{ kind: "grpc", service: "orders", port: "grpc" }, { healthService: "shop.Orders" }],
        maxLatencyMs: () => [
            { kind: "grpc", service: "orders", port: "grpc", healthService: "slow" },
            { maxLatencyMs: 5 },
        ],
    },
    prometheus: {
        ...settings({ ...prometheus, url: "http://127.0.0.1:1" }),
        ...endpoint(prometheus),
        path: () => [{ ...prometheus, url: at() }, { path: "/prometheus" }],
        query: () => [{ ...prometheus, url: at() }, { query: "down" }],
        atLeast: () => [{ ...prometheus, url: at() }, { atLeast: 2 }],
        atMost: () => [
            { ...prometheus, url: at() },
            { atLeast: undefined, atMost: 0 },
        ],
        equals: () => [
            { ...prometheus, url: at() },
            { atLeast: undefined, equals: 2 },
        ],
        allowEmpty: () => [{ ...prometheus, query: "none", url: at() }, { allowEmpty: true }],
    },
    podsReady: {
        ...settings(podsReady),
        of: [podsReady, { of: "k8s.pod.name=b" }],
        atLeast: [podsReady, { atLeast: 2 }],
    },
    condition: {
        ...settings(condition),
        of: [condition, { of: { apiVersion: "v1", kind: "Node", name: "a" } }],
        type: [condition, { type: "Progressing" }],
        status: [condition, { status: "False" }],
        field: [field, { field: "status.gone" }],
        atLeast: [field, { atLeast: 3 }],
        atMost: [field, { atLeast: undefined, atMost: 1 }],
        equals: [field, { atLeast: undefined, equals: "2" }],
        ifMissing: [{ ...field, field: "status.gone" }, { ifMissing: 1 }],
    },
    command: {
        ...settings(command),
        command: [command, { command: ["false"] }],
        exitCode: [command, { exitCode: 3 }],
        env: [command, { env: { CODE: "3" } }],
    },
};

describe.each(checkKinds)("of a check %s", (kind) => {
    const table = tables[kind];
    it("each field of its schema has a row here", () => {
        const fields = Object.keys(checkKindOf({ kind }).schema.shape).filter((name) => name !== "kind");
        expect(Object.keys(table).sort()).toEqual(fields.sort());
    });

    it.each(Object.entries(table))("%s has an effect", async (name, row) => {
        const [without, added] = typeof row === "function" ? row() : row;
        const defined = (some: object) =>
            Object.fromEntries(Object.entries(some).filter(([, value]) => value !== undefined)) as unknown as Check;
        expect(Object.keys(added)).toContain(name);
        // Kinds of objects are asked for once.
        await effectsOf(defined(without));
        const before = await effectsOf(defined(without));
        expect(await effectsOf(defined(without))).toEqual(before);
        expect(await effectsOf(defined({ ...without, ...added }))).not.toEqual(before);
    });
});

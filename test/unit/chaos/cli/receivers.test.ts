import * as otlp from "@opentelemetry/otlp-transformer/build/src/generated/root";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { chaosReport } from "../../../../chaos/cli/report";
import type { Journal } from "../../../../chaos/report/journal-schema";
import { makeCertificate } from "../../../support/certificate";
import { closedPort, serve } from "../kinds/checks/support";
import { aborted, bounded, failed, passed } from "../report/runs";

let folder: string;
const at = (name: string) => join(folder, name);
const start = passed.startedAt;

beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "chaos-receivers-"));
    vi.stubEnv("GRAFANA_TOKEN", "glsa_secret");
    // What fails is tried again within this time.
    vi.stubEnv("OTEL_EXPORTER_OTLP_TIMEOUT", "900");
});
afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
});

/** Keeps a journal under the name that its run gives it. */
function keep({ journal }: { journal?: Journal }, changes: Partial<Journal> = {}): Journal {
    const kept = { ...journal!, ...changes };
    const path = at(`${kept.conclusion.name}-1-20261121T141634000Z-0a1b2c3d.json`);
    kept.conclusion = { ...kept.conclusion, journal: path };
    writeFileSync(path, JSON.stringify(kept));
    return kept;
}

async function report(...args: string[]): Promise<{ code: number; log: string[]; error: string }> {
    const printed = { log: [] as string[], error: "" };
    const code = await chaosReport([...args, folder], {
        log: (line) => printed.log.push(...line.split("\n")),
        error: (line) => (printed.error += line),
    });
    expect(JSON.stringify(printed)).not.toContain("secret");
    return { code, ...printed };
}

/** What the receiver of OpenTelemetry's protocol knows of a span, by its own definitions. */
interface Received {
    traceId: string;
    spanId: string;
    parentSpanId: string;
    name: string;
    startTimeUnixNano: string;
    endTimeUnixNano: string;
    attributes: Record<string, unknown>;
    status: { code: string; message: string };
    links: { traceId: string; spanId: string; attributes: Record<string, unknown> }[];
    events: { name: string; attributes: Record<string, unknown> }[];
    droppedLinksCount: number;
}

const { ExportTraceServiceRequest, ExportTraceServiceResponse } = (otlp as any).opentelemetry.proto.collector.trace.v1;

type KeyValue = { key: string; value: Record<string, any> };
const valueOf = (value: Record<string, any>): unknown =>
    "arrayValue" in value ? (value.arrayValue.values ?? []).map(valueOf) : Object.values(value)[0];
const attributesOf = (pairs: KeyValue[] = []) =>
    Object.fromEntries(pairs.map(({ key, value }) => [key, valueOf(value)]));
const hex = (base64 = "") => Buffer.from(base64, "base64").toString("hex");

const bodyOf = async (request: IncomingMessage) => Buffer.concat((await request.toArray()) as Buffer[]);

type AsyncHandler = (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;
const serveAsync = (handle: AsyncHandler, tls?: Parameters<typeof serve>[1]) =>
    serve((request, response) => void handle(request, response), tls);

/** A receiver of traces. @param answer instead of the one that says that all was taken */
async function otlpReceiver(answer?: (response: ServerResponse) => void, tls?: { key: string; cert: string }) {
    const spans: Received[] = [];
    const resources: Record<string, unknown>[] = [];
    const requests: IncomingMessage[] = [];
    const port = await serveAsync(async (request, response) => {
        requests.push(request);
        const body = await bodyOf(request);
        if (answer) return answer(response);
        const decoded = ExportTraceServiceRequest.decode(
            request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body,
        );
        const { resourceSpans } = ExportTraceServiceRequest.toObject(decoded, {
            longs: String,
            enums: String,
            bytes: String,
        });
        for (const { resource, scopeSpans } of resourceSpans) {
            resources.push(attributesOf(resource.attributes));
            for (const span of scopeSpans.flatMap((scope: any) => scope.spans))
                spans.push({
                    ...span,
                    traceId: hex(span.traceId),
                    spanId: hex(span.spanId),
                    parentSpanId: hex(span.parentSpanId),
                    attributes: attributesOf(span.attributes),
                    links: (span.links ?? []).map((link: any) => ({
                        traceId: hex(link.traceId),
                        spanId: hex(link.spanId),
                        attributes: attributesOf(link.attributes),
                    })),
                    events: (span.events ?? []).map((event: any) => ({
                        name: event.name,
                        attributes: attributesOf(event.attributes),
                    })),
                });
        }
        response
            .setHeader("content-type", "application/x-protobuf")
            .end(ExportTraceServiceResponse.encode({}).finish());
    }, tls);
    return { url: `http${tls ? "s" : ""}://127.0.0.1:${port}`, spans, resources, requests };
}

/** An answer. */
const saying =
    (status: number, body: string | Uint8Array = "", headers = {}) =>
    (response: ServerResponse) =>
        void response.writeHead(status, headers).end(body);

const traced = (traceId: string) => ({
    at: start + 2_000,
    latencyMs: 5,
    good: false,
    status: 502,
    problem: "status 502",
    traceId,
});

describe("`chaos-report --otlp`", () => {
    it("sends each run as a trace, as OpenTelemetry's own definitions read it", async () => {
        const { conclusion, attacks } = keep(passed);
        const { url, spans, resources, requests } = await otlpReceiver();
        expect(await report("--otlp", url)).toMatchObject({ code: 0, log: ["1 PASSED", `Sent 1 trace to ${url}`] });
        expect(requests).toHaveLength(1);
        expect(requests[0]).toMatchObject({
            method: "POST",
            url: "/v1/traces",
            headers: { "content-type": "application/x-protobuf" },
        });
        expect(resources[0]).toMatchObject({ "service.name": "chaos-experiments" });
        const of = (name: string) => spans.find((span) => span.name === name)!;
        const inMs = (nanos: string) => Number(BigInt(nanos) / 1_000_000n) - start;
        const tree = spans.map(({ name, parentSpanId, startTimeUnixNano, endTimeUnixNano }) => ({
            name,
            in: spans.find(({ spanId }) => spanId === parentSpanId)?.name,
            from: inMs(startTimeUnixNano),
            to: inMs(endTimeUnixNano),
        }));
        const run = "experiment departments-scaled-in-time";
        expect(tree).toEqual([
            { name: run, in: undefined, from: 0, to: 43_689 },
            { name: "attack blackhole", in: run, from: 0, to: 42_983 },
            { name: "proof of blackhole", in: "attack blackhole", from: 0, to: 794 },
            { name: "attack blackhole-2", in: run, from: 0, to: 42_983 },
            { name: "proof of blackhole-2", in: "attack blackhole-2", from: 0, to: 793 },
            { name: "window", in: run, from: 1_483, to: expect.any(Number) },
            { name: "check /products", in: "window", from: 1_483, to: expect.any(Number) },
            { name: "check pods of k8s.deployment=hot-deals", in: "window", from: 1_485, to: expect.any(Number) },
            { name: "check pods of k8s.deployment=toys-bestseller", in: "window", from: 1_490, to: expect.any(Number) },
            { name: "wait 2 s", in: "window", from: 1_491, to: 3_527 },
            { name: "scale hot-deals to 2", in: "window", from: 3_527, to: 3_714 },
            { name: "scale toys-bestseller to 2", in: "window", from: 3_714, to: 3_959 },
            { name: "undo", in: run, from: expect.any(Number), to: 42_983 },
            { name: "recovery", in: run, from: 42_983, to: 43_689 },
        ]);
        expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
        expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
        expect(of(run)).toMatchObject({
            status: { code: "STATUS_CODE_OK" },
            attributes: {
                "test.suite.name": "departments-scaled-in-time",
                "test.suite.run.status": "success",
                "k8s.namespace.name": "e2e-model",
                "chaos.verdict": "PASSED",
                "chaos.reason": conclusion.reason,
                "chaos.targets": conclusion.targets,
            },
        });
        const { pod, uid } = attacks[0]!.targets[0]!;
        expect(of("attack blackhole").events).toEqual([
            { name: "target", attributes: expect.objectContaining({ "k8s.pod.name": pod, "k8s.pod.uid": uid }) },
        ]);
        expect(of("check /products").attributes).toMatchObject({
            "test.case.name": "/products",
            "test.case.result.status": "pass",
        });
    });

    it("links a check that failed to the traces of its bad answers, and makes the same trace again", async () => {
        const traceId = "0af7651916cd43dd8448eb211c80319c";
        const answers = [traced(traceId), ...Array.from({ length: 200 }, () => traced("b".repeat(32)))];
        const [first, ...others] = failed.journal!.checks;
        const before = [{ ...first!, answers: [{ at: start - 500, latencyMs: 20, good: true }] }];
        const { conclusion } = keep(failed, { before, checks: [{ ...first!, answers }, ...others] });
        const { url, spans } = await otlpReceiver();
        for (const base of [url, `${url}/`, `${url}/v1/traces`]) await report("--otlp", base);
        expect(spans).toHaveLength(3 * 15);
        expect(new Set(spans.map((span) => span.traceId + span.spanId)).size).toBe(15);
        const check = spans.find(({ name }) => name === "check /products")!;
        expect(check).toMatchObject({
            droppedLinksCount: 73,
            status: { code: "STATUS_CODE_ERROR", message: expect.stringContaining("0%") },
            attributes: { "test.case.result.status": "fail", "error.type": "FAILED" },
        });
        expect(check.links).toHaveLength(128);
        expect(check.links[0]).toEqual({
            traceId,
            // The parent that the request named to the application.
            spanId: "8448eb211c80319c",
            attributes: { "http.response.status_code": "502", "chaos.problem": "status 502" },
        });
        const run = spans[0]!;
        expect(run).toMatchObject({
            startTimeUnixNano: `${start - 500}000000`,
            status: { code: "STATUS_CODE_ERROR", message: `FAILED: ${conclusion.reason}` },
            attributes: { "test.suite.run.status": "failure", "error.type": "FAILED" },
        });
    });

    it("sends what the answers show, with the check and with the run if it has no other", async () => {
        keep(bounded);
        const { url, spans } = await otlpReceiver();
        expect(await report("--otlp", url)).toMatchObject({ code: 0 });
        const bound = { "chaos.bound.level": "95%", "chaos.bound.at_least": "80.7%", "chaos.bound.answers": "14" };
        for (const span of [`experiment ${bounded.experiment}`, "check /products"])
            expect(spans.find(({ name }) => name === span)!.attributes).toMatchObject(bound);
    });

    it("sends a run that attacked nothing, with its code", async () => {
        keep(aborted, { startedAt: start, endedAt: start + 10_000, actions: [], checks: passed.journal!.checks });
        const { url, spans } = await otlpReceiver();
        expect(await report("--otlp", url)).toMatchObject({ code: 0 });
        expect(spans.map(({ name, status }) => [name, status.code])).toEqual([
            ["experiment orders-kill", "STATUS_CODE_ERROR"],
            ["steady state", "STATUS_CODE_ERROR"],
        ]);
        expect(spans[0]!.attributes).toMatchObject({
            "test.suite.run.status": "aborted",
            "error.type": "no-steady-state",
            "chaos.code": "no-steady-state",
        });
        expect(spans[0]!.attributes).not.toHaveProperty("chaos.success_rate");
    });

    it("takes credentials, compression and names from OpenTelemetry's variables", async () => {
        vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20secret");
        vi.stubEnv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
        vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://other.invalid");
        vi.stubEnv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=staging");
        keep(passed);
        const { url, spans, resources, requests } = await otlpReceiver();
        expect(await report("--otlp", url)).toMatchObject({ code: 0 });
        expect(requests[0]!.headers).toMatchObject({ authorization: "Bearer secret", "content-encoding": "gzip" });
        expect(resources[0]).toMatchObject({ "deployment.environment.name": "staging" });
        expect(spans.length).toBeGreaterThan(0);
    });

    it("takes an empty answer for success", async () => {
        keep(passed);
        const { url } = await otlpReceiver((response) => response.end());
        expect(await report("--otlp", url)).toMatchObject({ code: 0 });
    });

    const taken = (partialSuccess: object) => ExportTraceServiceResponse.encode({ partialSuccess }).finish();
    it.each<[string, (response: ServerResponse) => void, RegExp]>([
        ["401", saying(401, "secret"), /rejects the credentials \(401\)\. Set OTEL_EXPORTER_OTLP_HEADERS/],
        ["404", saying(404), /nothing is there \(404\)\. Correct the URL$/],
        ["400", saying(400, "secret"), /it answered with status 400$/],
        ["503", saying(503), /it is too busy \(429, 502, 503 or 504\)$/],
        ["no answer", () => undefined, /it did not answer in time$/],
        [
            "a part",
            saying(200, taken({ rejectedSpans: 2, errorMessage: "too old" })),
            /rejects a part of them: .*too old/,
        ],
        [
            "HTML",
            saying(200, "<!doctype html>secret"),
            /is no receiver of OTLP over HTTP with protobuf\. Correct the URL$/,
        ],
        ["JSON", saying(200, '{"ok":true}'), /is no receiver of OTLP/],
        ["a word", saying(200, "OK"), /is no receiver of OTLP/],
    ])("says in a sentence what a receiver answered: %s", async (_, answer, expected) => {
        keep(passed);
        const { url } = await otlpReceiver(answer);
        const { code, error } = await report("--otlp", url, "--junit", at("junit.xml"));
        expect(error).toMatch(expected);
        expect(error).toMatch(new RegExp(`^the traces could not be sent to ${url}/v1/traces: `));
        expect(code).toBe(3);
        expect(existsSync(at("junit.xml"))).toBe(true);
    });
});

/** As Grafana documents the bodies of POST and PATCH of /api/annotations. */
const annotationSchema = z.strictObject({
    time: z.int(),
    timeEnd: z.int(),
    tags: z.array(z.string().max(100)),
    text: z.string().min(1),
});
type Annotation = z.infer<typeof annotationSchema>;

/** Grafana's API for annotations, as it is documented. */
async function grafana(path = "") {
    const kept: (Annotation & { id: number })[] = [];
    const asked: string[] = [];
    const port = await serveAsync(async (request, response) => {
        const answer = (status: number, body: object) =>
            response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
        const { pathname, searchParams } = new URL(request.url!, "http://grafana");
        asked.push(`${request.method} ${pathname}`);
        if (request.headers.authorization !== "Bearer glsa_secret") return answer(401, { message: "Invalid API key" });
        const [, id] = new RegExp(`^${path}/api/annotations(?:/(\\d+))?$`).exec(pathname) ?? [pathname, "none"];
        if (request.method === "GET" && id === undefined) {
            expect(searchParams.get("type")).toBe("annotation");
            return answer(
                200,
                kept.filter(({ tags }) => searchParams.getAll("tags").every((tag) => tags.includes(tag))),
            );
        }
        const { data, error } = annotationSchema.safeParse(JSON.parse((await bodyOf(request)).toString()));
        if (error ?? request.headers["content-type"] !== "application/json")
            return answer(400, { message: "bad request data" });
        if (request.method === "POST" && id === undefined) {
            kept.push({ ...data, id: kept.length + 1 });
            return answer(200, { message: "Annotation added", id: kept.length });
        }
        const there = kept.find((one) => request.method === "PATCH" && one.id === Number(id));
        if (!there) return answer(404, { message: "Could not find annotation" });
        Object.assign(there, data);
        return answer(200, { message: "Annotation patched" });
    });
    return { url: `http://127.0.0.1:${port}${path}`, kept, asked };
}

describe("`chaos-report --grafana`", () => {
    it("writes an annotation for the attacked time of each run, and corrects it when it is sent again", async () => {
        keep(failed, { recovery: undefined });
        keep(aborted);
        const { url, kept, asked } = await grafana("/grafana");
        const log = ["1 FAILED, 1 ABORTED", `Wrote 1 annotation to ${url}`];
        expect(await report("--grafana", url)).toMatchObject({ code: 0, log });
        const { attackedAt, endedAt, conclusion } = failed.journal!;
        expect(kept).toEqual([
            {
                id: 1,
                time: attackedAt,
                timeEnd: endedAt,
                tags: [
                    "chaos",
                    "experiment:hot-deals-blackhole",
                    "verdict:FAILED",
                    expect.stringMatching(/^trace_id:[0-9a-f]{32}$/),
                ],
                text: expect.stringContaining(`hot-deals-blackhole: FAILED: ${conclusion.reason}`),
            },
        ]);
        keep(failed);
        expect(await report("--grafana", `${url}/`)).toMatchObject({ code: 0 });
        expect(kept).toHaveLength(1);
        expect(kept[0]!.timeEnd).toBe(failed.journal!.recovery!.undoneAt);
        expect(asked).toEqual([
            "GET /grafana/api/annotations",
            "POST /grafana/api/annotations",
            "GET /grafana/api/annotations",
            "PATCH /grafana/api/annotations/1",
        ]);
    });

    it("leaves annotations alone that are not this run's, also if they have the trace's tag", async () => {
        keep(failed);
        const { url, kept } = await grafana();
        await report("--grafana", url);
        const [{ id: _, tags, ...own }] = kept as [Annotation & { id: number }];
        const trace = tags.find((tag) => tag.startsWith("trace_id:"))!;
        const foreign = { ...own, text: "a deployment", tags: ["deployment", trace] };
        kept.splice(0, 1, { ...foreign, id: 1 });
        await report("--grafana", url);
        expect(kept).toEqual([
            { ...foreign, id: 1 },
            { ...own, tags, id: 2 },
        ]);
    });

    it("shows the text of an application as text, where Grafana shows HTML", async () => {
        const { conclusion } = failed.journal!;
        keep(failed, { conclusion: { ...conclusion, reason: 'status 502: <a href="//evil">log in</a>' } });
        const { url, kept } = await grafana();
        await report("--grafana", url);
        expect(kept[0]!.text).toContain("&lt;a href=");
        expect(kept[0]!.text).not.toContain("<");
    });

    const lacks = '{"message":"glsa_secret lacks annotations:create"}';
    it.each<[string, (response: ServerResponse) => void, RegExp]>([
        ["401", saying(401), /rejects the credentials \(401\)\. Set GRAFANA_TOKEN to /],
        ["403", saying(403, lacks), /\(403\)\. Set GRAFANA_TOKEN .*It says: “\*\*\* lacks annotations:create”$/],
        ["a login page", saying(302, "", { location: "/login" }), /it answered with status 302$/],
        ["HTML", saying(200, "<!doctype html>secret"), /what answers there is not Grafana\. Correct the URL$/],
        ["other JSON", saying(200, '{"ok":true}'), /what answers there is not Grafana/],
        ["null", saying(200, "null"), /what answers there is not Grafana/],
    ])("says in a sentence what answered: %s", async (_, answer, expected) => {
        keep(passed);
        const port = await serve((_, response) => answer(response));
        const args = ["--grafana", `http://127.0.0.1:${port}`, "--summary", at("summary.md")];
        const { code, error } = await report(...args);
        expect(error).toMatch(expected);
        expect(error).toMatch(/^the annotations could not be sent to http:\/\/127\.0\.0\.1:\d+: /);
        expect(code).toBe(3);
        expect(existsSync(at("summary.md"))).toBe(true);
    });
});

describe("both", () => {
    it("are tried, also if the other fails, and a run that failed is worse", async () => {
        keep(failed);
        const url = `http://127.0.0.1:${await closedPort()}`;
        const { url: works, kept } = await grafana();
        const { code, error } = await report("--otlp", url, "--grafana", works);
        expect(error).toBe(`the traces could not be sent to ${url}/v1/traces: it refuses connections`);
        expect(code).toBe(3);
        expect(kept).toHaveLength(1);
        expect((await report("--grafana", url)).error).toMatch(/: it refuses connections$/);
        expect(await report("--otlp", url, "--summary", at("summary.md"))).toMatchObject({ code: 1 });
    });

    it("accept no certificate that nobody whom the machine trusts has signed", async () => {
        keep(passed);
        const { keyFile, certificateFile } = makeCertificate(folder);
        const tls = { key: readFileSync(keyFile, "utf8"), cert: readFileSync(certificateFile, "utf8") };
        const { url } = await otlpReceiver(undefined, tls);
        const { error, code } = await report("--otlp", url, "--grafana", url);
        expect(
            error.match(/its certificate is not valid \(DEPTH_ZERO_SELF_SIGNED_CERT\)\. .* NODE_EXTRA_CA_CERTS/g),
        ).not.toBeNull();
        expect(code).toBe(3);
        // The exporter's own variable.
        vi.stubEnv("OTEL_EXPORTER_OTLP_CERTIFICATE", certificateFile);
        expect(await report("--otlp", url)).toMatchObject({ code: 0 });
    });

    it("refuse what is no URL, or has a secret that other programs see, before anything is written", async () => {
        keep(passed);
        vi.stubEnv("GRAFANA_TOKEN", "glsa_secret\n");
        const urls = ["--otlp", "http://ada:secret@127.0.0.1", "--grafana", "localhost:3000"];
        const { code, error } = await report(...urls, "--junit", at("junit.xml"));
        expect(code).toBe(2);
        expect(error.split("\n")).toEqual([
            "--otlp: other programs would see the user and the password; set OTEL_EXPORTER_OTLP_HEADERS instead",
            expect.stringMatching(/^--grafana: "localhost:3000" is not a URL of HTTP; allowed: http:\/\/ or https:/),
            expect.stringMatching(/^--grafana: the token has a space, or what no header may have: set GRAFANA_TOKEN/),
            "See its --help",
        ]);
        expect(existsSync(at("junit.xml"))).toBe(false);
        vi.stubEnv("GRAFANA_TOKEN", "");
        expect((await report("--grafana", "https://grafana.example/?token=secret")).error).toMatch(
            /^--grafana: a query .*\n--grafana: the token is missing: set GRAFANA_TOKEN/,
        );
        expect((await report("--otlp", "secret")).error).toMatch(/^--otlp: not an absolute URL; allowed: http:/);
    });
});

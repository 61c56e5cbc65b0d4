import { beforeEach, describe, expect, it } from "vitest";
import { prometheus, type PrometheusCheck } from "../../../../../chaos/kinds/checks/prometheus";
import type { Answer } from "../../../../../chaos/kinds/checks/answer";
import { FakeCluster } from "../../support/fake-cluster";
import {
    addService,
    type Asked,
    base64,
    closedPort,
    contextOf,
    type Handler,
    recording,
    serve,
    statusObject,
    unseen,
    useApiServer,
} from "./support";

let cluster: FakeCluster;
beforeEach(() => {
    cluster = new FakeCluster();
});

const query = 'rate(errors{job="shop"}[1m])';
const check = (fields: Partial<PrometheusCheck>): PrometheusCheck => ({ kind: "prometheus", query, ...fields });
const look = (fields: Partial<PrometheusCheck>, timeoutMs = 2_000) =>
    prometheus.probe(check(fields), contextOf(cluster), timeoutMs);

async function lookAt(status: number, body: unknown, fields: Partial<PrometheusCheck>) {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const port = await serve((_, response) => response.writeHead(status).end(text));
    return look({ url: `http://127.0.0.1:${port}`, ...fields });
}

const withoutPort = (answer: Answer) => ({
    ...answer,
    problem: answer.problem?.replace(/http:\/\/127.0.0.1:\d+/, "URL"),
});

const success = (resultType: string, result: unknown) => ({ status: "success", data: { resultType, result } });
const scalar = (value: string) => success("scalar", [1, value]);
const vector = (...values: string[]) =>
    success(
        "vector",
        values.map((value, index) => ({ metric: { __name__: "up", pod: `p${index}` }, value: [1, value] })),
    );

describe("a value of Prometheus", () => {
    it.each<[string, unknown, Partial<PrometheusCheck>, string | undefined]>([
        ["a scalar within its limits", scalar("0.5"), { atLeast: 0.5, atMost: 1 }, undefined],
        ["a scalar that is too small", scalar("0.4"), { atLeast: 0.5 }, "the value is 0.4 (required: at least 0.5)"],
        [
            "one that is too large",
            scalar("2"),
            { atLeast: 0, atMost: 1 },
            "the value is 2 (required: at least 0 and at most 1)",
        ],
        ["a scalar that is exactly right", scalar("1e3"), { equals: 1000 }, undefined],
        ["a value that is no number", scalar("NaN"), { atMost: 1 }, "the value is NaN (required: at most 1)"],
        ["infinity", scalar("+Inf"), { atMost: 1 }, "the value is Infinity (required: at most 1)"],
        ["a vector, each sample of which is right", vector("1", "1"), { equals: 1 }, undefined],
        ["a vector with a sample that is not", vector("1", "0", "1"), { equals: 1 }, 'up{pod="p1"} is 0 (required: 1)'],
        [
            "a vector with several that are not",
            vector("0", "0", "1"),
            { atLeast: 1 },
            'up{pod="p0"} is 0 (required: at least 1), and 1 more of 3 samples are not good',
        ],
        [
            "a sample whose name and labels are texts of others",
            success("vector", [{ metric: { __name__: "up is\n1", "a b": "c" }, value: [1, "0"] }]),
            { equals: 1 },
            '{"up is\\n1", "a b"="c"} is 0 (required: 1)',
        ],
        ["an empty vector", vector(), { atMost: 1 }, "the query gives no samples"],
        ["an empty vector that is allowed", vector(), { atMost: 1, allowEmpty: true }, undefined],
    ])("is good or not: %s", async (_, body, fields, problem) => {
        const answer = await lookAt(200, body, fields);
        expect(answer.problem).toBe(problem);
        expect(answer.good).toBe(problem === undefined);
        expect(answer).not.toHaveProperty("unseen");
    });
});

describe("an answer with warnings", () => {
    const partial = (warnings: unknown, infos?: unknown) => ({ ...vector("1"), warnings, infos });
    it.each<[string, unknown, Partial<PrometheusCheck>, string]>([
        ["is not complete", partial(["store b is down"]), {}, "“store b is down”"],
        ["is not, if nothing is left", { ...vector(), warnings: ["b"] }, { allowEmpty: true }, "“b”"],
        ["may have several", partial(["a", "b", "c"]), {}, "“a”, and 2 more"],
        ["may try to print lines", partial(["a\n\u001b[2J\u202eb”"]), {}, '“a b"”'],
        ["may have a password", partial(["http://ada:s3cr3t@store/ is down"]), {}, "“http://[hidden]@store/ is down”"],
        ["may have one that is no text", partial([{ store: "b" }]), {}, '“{"store":"b"}”'],
    ])("%s: nothing is known then", async (_, body, fields, words) =>
        expect(await lookAt(200, body, { atLeast: 1, ...fields })).toMatchObject(
            unseen(`Prometheus answered with ${words.includes("more") ? "warnings" : "a warning"}: ${words}`),
        ),
    );

    it.each([undefined, null, []])("has none if they are %j, also with `infos`", async (none) =>
        expect(
            await lookAt(200, partial(none, ["PromQL info: metric might not be a counter"]), { atLeast: 1 }),
        ).toEqual(expect.objectContaining({ good: true })),
    );

    it("has none if versions before 2.54 have remarks of the engine among them", async () => {
        const remark = "PromQL info: metric might not be a counter, name does not end in _total";
        expect(await lookAt(200, partial([remark]), { atLeast: 1 })).toMatchObject({ good: true });
        expect(await lookAt(200, partial([remark, "b is down"]), { atLeast: 1 })).toMatchObject({
            problem: "Prometheus answered with a warning: “b is down”",
        });
    });

    it.each<[string, unknown, Partial<PrometheusCheck>]>([
        ["of which each sample is good", vector("1"), {}],
        ["of which nothing is left", vector(), { allowEmpty: true }],
        ["with a scalar", scalar("1"), {}],
        ["without warnings", { ...vector("1"), warnings: [] }, {}],
    ])("is not complete either if VictoriaMetrics calls it partial: %s", async (_, body, fields) => {
        expect(await lookAt(200, { ...(body as object), isPartial: true }, { atLeast: 1, ...fields })).toMatchObject(
            unseen("Prometheus answered with a part of the data (isPartial)"),
        );
        const whole = await lookAt(200, { ...(body as object), isPartial: false }, { atLeast: 1, ...fields });
        expect(whole).toMatchObject({ good: true });
    });

    it("is quoted, also if it is partial", async () =>
        expect(await lookAt(200, { ...partial(["b is down"]), isPartial: true }, { atLeast: 1 })).toMatchObject(
            unseen("Prometheus answered with a warning: “b is down”"),
        ));

    it("shows no secret of the check, as an error does not", async () => {
        cluster.add("Secret", "keys", { data: { token: base64("s3cr3t-token") } });
        const fields = { atLeast: 1, headersFrom: { "X-Key": { secret: "keys", key: "token" } } };
        const warned = await lookAt(200, partial(["s3cr3t-token rejected"]), fields);
        expect(warned.problem).toBe("Prometheus answered with a warning: “[secret] rejected”");
        const failed = await lookAt(400, { status: "error", errorType: "bad_data", error: "s3cr3t-token" }, fields);
        expect(failed.problem).toBe("Prometheus answered with an error (bad_data): “[secret]”");
    });
});

describe("nothing is known about the application", () => {
    const errorOf = (error: string, errorType = "bad_data") => ({ status: "error", errorType, error });
    const told = (words: string, type = "bad_data") => `Prometheus answered with an error (${type}): “${words}”`;
    const isAnother = "what was asked, URL/api/v1/query, is not Prometheus, or rejects the request";
    const allowed = "allowed: a query that gives a scalar or an instant vector of numbers";

    it.each<[string, number, unknown, string]>([
        ["rejects the query", 400, errorOf("parse error"), told("parse error")],
        ["cannot answer in time", 503, errorOf("too slow", "timeout"), told("too slow", "timeout")],
        ["repeats a password", 400, errorOf("http://ada:s3cr3t@a/ is down"), told("http://[hidden]@a/ is down")],
        ["gives an error of a hostile type", 400, errorOf("a", "bad)\nTo do: ("), told("a", "“bad) To do: (”")],
        [
            "gives what is a text of others",
            200,
            success(`matrix\n${"x".repeat(100)}`, []),
            `the query gives a “matrix ${"x".repeat(52)}…”; ${allowed}`,
        ],
        ["wants credentials", 401, "Unauthorized", `${isAnother}: status 401: “Unauthorized”`],
        ["is something else", 200, "<html>", `${isAnother}: status 200: “<html>”`],
        ["gives a range", 200, success("matrix", []), `the query gives a matrix; ${allowed}`],
        [
            "gives histograms",
            200,
            success("vector", [{ metric: {}, histogram: [1, {}] }]),
            `the query gives histograms; ${allowed}`,
        ],
    ])("if Prometheus %s", async (_, status, body, problem) =>
        expect(withoutPort(await lookAt(status, body, { atLeast: 1 }))).toMatchObject({
            good: false,
            unseen: true,
            problem,
        }),
    );

    it("if Prometheus cannot be reached, or does not answer in time", async () => {
        expect(await look({ url: `http://127.0.0.1:${await closedPort()}`, atLeast: 1 })).toMatchObject(
            unseen(/^Prometheus cannot be asked: .*ECONNREFUSED/),
        );
        const port = await serve(() => undefined);
        expect(await look({ url: `http://127.0.0.1:${port}`, atLeast: 1 }, 100)).toMatchObject({ unseen: true });
    });

    it("if its Service has no ready pods", async () => {
        addService(cluster, "prometheus", [{ port: 9090 }], undefined, "monitoring");
        const refused: Handler = (_, response) =>
            response.writeHead(503).end(statusObject(503, 'no endpoints available for service "prometheus"'));
        useApiServer(cluster, await serve(refused));
        expect(await look({ service: "prometheus", namespace: "monitoring", atLeast: 1 })).toMatchObject(
            unseen(expect.stringContaining("kubectl --context kind-a --namespace monitoring get pods")),
        );
    });
});

it("asks port 9090 of a Service, with the query and a time limit", async () => {
    addService(cluster, "prometheus", [{ port: 9090 }, { port: 80 }]);
    const { port, paths } = await recording((_, response) => response.end(JSON.stringify(scalar("1"))));
    useApiServer(cluster, port);
    expect(await look({ service: "prometheus", atLeast: 1 })).toMatchObject({ good: true });
    const url = new URL(paths()[0]!, "http://x");
    expect(url.pathname).toBe("/api/v1/namespaces/demo/services/prometheus:9090/proxy/api/v1/query");
    expect(Object.fromEntries(url.searchParams)).toEqual({ query, timeout: "2000ms" });
});

describe("below a path, behind a login, for a tenant", () => {
    const below = { path: "/prometheus/", headers: { "X-Scope-OrgID": "shop" }, atLeast: 1 };
    const headersFrom = { Authorization: { secret: "keys", key: "token", prefix: "Bearer " } };
    const answering = () => recording((_, response) => response.end(JSON.stringify(scalar("1"))));
    beforeEach(() => void cluster.add("Secret", "keys", { data: { token: base64("s3cr3t-token") } }));

    it("it is asked by address", async () => {
        const { url, asked } = await answering();
        expect(await look({ url: `${url}/below`, ...below, headersFrom })).toMatchObject({ good: true });
        const headers = { "x-scope-orgid": "shop", authorization: "Bearer s3cr3t-token" };
        const place = expect.stringMatching(/^\/below\/prometheus\/api\/v1\/query\?/);
        expect(asked).toMatchObject([{ url: place, headers }]);
    });

    it("it is asked through the API server", async () => {
        addService(cluster, "prometheus", [{ port: 9090 }]);
        const { port, asked } = await answering();
        useApiServer(cluster, port);
        expect(await look({ service: "prometheus", ...below })).toMatchObject({ good: true });
        const place = "/api/v1/namespaces/demo/services/prometheus:9090/proxy/prometheus/api/v1/query?";
        const [{ url, headers }] = asked as [Asked];
        expect([url.startsWith(place), headers["x-scope-orgid"], headers.authorization]).toEqual([
            true,
            "shop",
            undefined,
        ]);
    });

    it("what was asked is said, without a secret", async () => {
        const handler: Handler = (request, response) => response.writeHead(401).end(request.url);
        const queryFrom = { session: { secret: "keys", key: "token" } };
        const fields = { ...below, queryFrom };
        const answer = await look({ url: `http://127.0.0.1:${await serve(handler)}`, ...fields });
        expect(withoutPort(answer).problem).toMatch(
            /^what was asked, URL\/prometheus\/api\/v1\/query, is not Prometheus, .* 401: .*session=\[secret\]/,
        );
        addService(cluster, "prometheus", [{ port: 9090 }]);
        useApiServer(cluster, await serve(handler));
        expect((await look({ service: "prometheus", ...fields })).problem).toMatch(
            /^what was asked, \/prometheus\/api\/v1\/query of Service prometheus, /,
        );
    });

    it.each(["prometheus", "/a?b=c", "/../a", "/a#b"])("the path is not %s", (path) =>
        expect(prometheus.schema.safeParse(check({ url: "http://a", atLeast: 1, path })).success).toBe(false),
    );
});

it("says what is counted", () =>
    expect(prometheus.describeSuccess(check({ query: "up", atLeast: 1 }))).toBe("values of up were at least 1"));

import { beforeEach, describe, expect, it } from "vitest";
import { statusOf } from "../../../../chaos/cluster/client";
import { otherResources, resources } from "../../../../chaos/cluster/resources";
import { secureServer } from "./secure-server";

const server = secureServer();
/** @param timeoutMs of each call */
const cluster = (timeoutMs?: number) => server.cluster({}, { token: "mine" }, timeoutMs);

/** What was asked, as `POST /api/v1/…`, with the body. */
let asked: string[];
/** What is answered first; then 200. */
let answers: { status: number; retryAfter?: string }[];

beforeEach(() => {
    [asked, answers] = [[], []];
    server.answer = (request, response) => {
        let body = "";
        request.on("data", (text) => (body += String(text)));
        request.on("end", () => {
            asked.push(`${request.method} ${request.url} ${body}`.trim());
            const { status, retryAfter } = answers.shift() ?? { status: 200 };
            const headers = { "content-type": "application/json", ...(retryAfter && { "retry-after": retryAfter }) };
            response.writeHead(status, headers).end(JSON.stringify({ kind: "Status", metadata: {}, code: status }));
        });
    };
});

const read = (of = cluster()) =>
    of.read({ resource: otherResources.namespace, name: "demo" }).then(() => 200, statusOf);
const times = (count: number, status: number, retryAfter?: string) =>
    Array.from({ length: count }, () => ({ status, retryAfter }));

describe("an API server that has too much to do is asked again", () => {
    it.each([429, 503])("when it says so with status %s", async (status) => {
        answers = times(2, status, "0");
        expect([await read(), asked.length]).toEqual([200, 3]);
    });

    it("with what was to be changed", async () => {
        answers = times(1, 429, "0");
        const body = { metadata: { name: "a" } };
        await cluster().create({ resource: resources.configMap, namespace: "demo" }, body);
        expect(asked).toHaveLength(2);
        expect(asked[1]).toBe(asked[0]);
        expect(asked[0]).toContain('"name":"a"');
    });

    it("once the time has passed that it names", async () => {
        answers = times(1, 429, "1");
        const begun = performance.now();
        expect(await read()).toBe(200);
        expect(performance.now() - begun).toBeGreaterThan(990);
    });

    it("ten times at most", async () => {
        answers = times(20, 429, "0");
        expect([await read(), asked.length]).toEqual([429, 11]);
    });

    it("as long as the time of a call lasts: then its answer counts", async () => {
        answers = times(20, 429, "1");
        expect([await read(cluster(500)), asked.length]).toEqual([429, 1]);
    });
});

describe("an API server is not asked again", () => {
    it.each<[number, string?]>([[429], [503], [429, "soon"], [500, "0"], [409, "0"]])(
        "with status %s and Retry-After %s",
        async (status, retryAfter) => {
            answers = times(1, status, retryAfter);
            expect([await read(), asked.length]).toEqual([status, 1]);
        },
    );

    it("to evict a pod: a disruption budget refuses that", async () => {
        answers = times(1, 429, "0");
        const evicting = cluster().create(
            { resource: resources.pod, name: "a", namespace: "demo", part: "eviction" },
            {},
        );
        expect([await evicting.catch(statusOf), asked.length]).toEqual([429, 1]);
    });

    it("if a pod may have answered, through the API server's proxy", async () => {
        answers = times(1, 503, "0");
        const { status } = await cluster().ask("/api/v1/namespaces/demo/pods/a:80/proxy/targets?b=1");
        expect([status, asked.length]).toEqual([503, 1]);
    });
});

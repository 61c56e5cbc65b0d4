import dns from "node:dns";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Answer } from "../../../../../chaos/kinds/checks/answer";
import { http, type HttpCheck } from "../../../../../chaos/kinds/checks/http";
import { prometheus } from "../../../../../chaos/kinds/checks/prometheus";
import { makeCertificate } from "../../../../support/certificate";
import { slowServer } from "../../../../support/slow-server";
import { FakeCluster } from "../../support/fake-cluster";
import { addService, base64, contextOf, type Handler, recording, serve, useApiServer } from "./support";

let cluster: FakeCluster;
beforeEach(() => {
    cluster = new FakeCluster();
});

const check = (fields: Partial<HttpCheck>): HttpCheck => ({ kind: "http", path: "/", ...fields });
const look = (fields: Partial<HttpCheck>, timeoutMs = 2_000) =>
    http.probe(check(fields), contextOf(cluster), timeoutMs);

/** Has a Service answer through the API server's proxy. @returns what a check of it says */
async function proxied(answer: Handler): Promise<Partial<HttpCheck>> {
    addService(cluster, "orders", [{ port: 80 }]);
    useApiServer(cluster, await serve(answer));
    return { service: "orders" };
}

const direct = async (answer: Handler) => ({ url: `http://127.0.0.1:${await serve(answer)}` });
const folder = mkdtempSync(join(tmpdir(), "request-"));
afterAll(() => rmSync(folder, { recursive: true }));
async function overTls(answer: Handler): Promise<Partial<HttpCheck>> {
    const { keyFile, certificateFile } = makeCertificate(folder);
    const [key, cert] = [keyFile, certificateFile].map((file) => readFileSync(file, "utf8"));
    return { url: `https://127.0.0.1:${await serve(answer, { key: key!, cert: cert! })}`, ca: cert };
}
const ways = [
    ["by an address", direct],
    ["through the API server's proxy", proxied],
] as const;

describe.each(ways)("a request %s", (_, place) => {
    async function headersOf(fields: Partial<HttpCheck> = {}): Promise<IncomingHttpHeaders> {
        const asked: IncomingHttpHeaders[] = [];
        const endpoint = await place((request, response) => response.end(asked.push(request.headers) && "{}"));
        expect(await look({ ...endpoint, ...fields })).toMatchObject({ good: true });
        return asked[0]!;
    }

    // Firewalls refuse requests without it: rule 920320 of https://github.com/coreruleset/coreruleset
    it("names what sends it", async () =>
        expect(await headersOf()).toMatchObject({ "user-agent": "chaos-experiments" }));

    it.each(["user-agent", "User-Agent", "USER-AGENT"])("has the name that %s says", async (header) => {
        expect(await headersOf({ headers: { [header]: "shop/1" } })).toMatchObject({ "user-agent": "shop/1" });
        cluster.add("Secret", "names", { data: { shop: base64("shop/2") } });
        const headersFrom = { [header]: { secret: "names", key: "shop" } };
        expect(await headersOf({ headersFrom })).toMatchObject({ "user-agent": "shop/2" });
    });

    // RFC 9110, 15.5.7: a server that has no acceptable type may answer 406.
    it("prefers JSON, and accepts what a server has that knows only another type", async () => {
        const pickyServer: Handler = ({ headers }, response) => {
            const accepted = headers.accept!.split(",").map((one) => one.split(";")[0]!.trim());
            const isAccepted = accepted.some((type) => ["text/html", "text/*", "*/*"].includes(type));
            response.writeHead(isAccepted ? 200 : 406).end("<html></html>");
        };
        expect(await look(await place(pickyServer))).toMatchObject({ good: true, status: 200 });
        expect((await headersOf()).accept).toMatch(/^application\/json, /);
    });

    it.each(["accept", "Accept", "ACCEPT"])("accepts only what %s says", async (header) => {
        const headers = { [header]: "application/vnd.shop+json" };
        expect(await headersOf({ headers })).toMatchObject({ accept: "application/vnd.shop+json" });
    });
});

describe.each([...ways, ["over TLS", overTls] as const])("the headers of an answer %s", (_, place) => {
    const answering = (kib: number): Handler => {
        const parts = Array.from({ length: kib }, (_, index) => [`x-${index}`, "x".repeat(1_000)]);
        return (_, response) => response.writeHead(200, Object.fromEntries(parts)).end("{}");
    };

    it("may be of 100 KiB", async () =>
        expect(await look(await place(answering(100)))).toMatchObject({ good: true, status: 200 }));

    it("may not be longer than 128 KiB, and the problem says so", async () => {
        const answer = await look(await place(answering(150)));
        expect(answer).toMatchObject({
            good: false,
            problem:
                "the headers of the answer are longer than 128 KiB; to read more, set " +
                "NODE_OPTIONS=--max-http-header-size=BYTES",
        });
        expect(answer).not.toHaveProperty("unseen");
    });
});

describe.runIf(process.platform === "linux")("a host with two addresses", () => {
    const resolveTo = (...addresses: string[]) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        const lookup = (_name: string, _options: object, give: (error: null, all: object[]) => void) =>
            give(null, found);
        vi.spyOn(dns, "lookup").mockImplementation(lookup as never);
    };
    afterEach(() => void vi.restoreAllMocks());

    it.each<[string, (url: string) => Promise<Answer>]>([
        ["http", (url) => look({ url }, 8_000)],
        [
            "prometheus",
            (url) => prometheus.probe({ kind: "prometheus", query: "1", equals: 1, url }, contextOf(cluster), 8_000),
        ],
    ])("may take a second for a handshake: %s", async (_, ask) => {
        const { port, goOn } = await slowServer();
        // Nobody listens at the second one.
        resolveTo("127.0.0.1", "127.0.0.9");
        setTimeout(goOn, 400);
        expect(await ask(`http://shop.example:${port}`)).toMatchObject({ good: true });
    });

    it("is asked at the second one within the time, if the first one is silent", async () => {
        const { port } = await slowServer();
        await serve((_, response) => response.end("{}"), undefined, { port, host: "127.0.0.9" });
        resolveTo("127.0.0.1", "127.0.0.9");
        expect(await look({ url: `http://shop.example:${port}` })).toMatchObject({ good: true });
    });
});

it("a request of the check prometheus names what sends it", async () => {
    const { url, asked } = await recording();
    await prometheus.probe({ kind: "prometheus", query: "1", url }, contextOf(cluster), 2_000);
    expect(asked).toMatchObject([{ headers: { "user-agent": "chaos-experiments" } }]);
});

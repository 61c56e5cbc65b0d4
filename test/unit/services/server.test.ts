import { Agent, request, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { Hono } from "hono";
import { describe, expect, it, onTestFinished } from "vitest";
import { startServer } from "../../../services/shared/server";
import { answering, list } from "../../services/support/backends";
import { expectProblem, sendRaw } from "../../services/support/raw";
import { pass, stopClock, turnUntil } from "./support/clock";
import { openGateway } from "./support/gateway";

async function serve(application: Hono) {
    const server = await startServer(application, 0);
    onTestFinished(async () => void (await server.stop().catch(() => undefined)));
    return { server, url: `http://127.0.0.1:${server.port}` };
}

describe("a malformed request gets a problem document, and its connection is closed", () => {
    const get = (line: string, ...headers: string[]) => `${[`GET ${line} HTTP/1.1`, ...headers].join("\r\n")}\r\n\r\n`;
    const post = (headers: string[], body: string) =>
        `${["POST /products HTTP/1.1", "Host: a", ...headers].join("\r\n")}\r\n\r\n${body}`;
    const close = "Connection: close";
    const chunk = `8000\r\n${"x".repeat(0x8000)}\r\n`;
    it.each([
        ["that is not HTTP", "hello\r\n\r\n", 400],
        ["without a host", get("/products", close), 400],
        ["with an impossible host", get("/products", "Host: a b", close), 400],
        ["with two lengths", post(["Content-Length: 1", "Content-Length: 2"], "ab"), 400],
        ["with a length and chunks", post(["Content-Length: 1", "Transfer-Encoding: chunked"], "0\r\n\r\n"), 400],
        ["with endless headers", get("/", "Host: a", `X: ${"x".repeat(20_000)}`), 431],
        ["for a path that cannot be decoded", get("/%E0%A4%A", "Host: a", close), 404],
        ["with an unsupported method", `DELETE /products HTTP/1.1\r\nHost: a\r\n${close}\r\n\r\n`, 405],
        ["with a huge body", post(["Content-Length: 9000000"], "x".repeat(100_000)), 413],
        ["with a huge body in chunks", post(["Transfer-Encoding: chunked"], chunk.repeat(4)), 413],
    ] as const)("%s", async (_what, bytes, status) => {
        const { gateway } = await openGateway();
        const { url } = await serve(gateway);
        expectProblem(await sendRaw(url, bytes), status);
    });
});

it.each([
    ["Content-Length: 50", "{"],
    ["Transfer-Encoding: chunked", "5\r\n{"],
])("a body that ends early is not logged as an error of the gateway: %s", async (header, bytes) => {
    const { gateway, log } = await openGateway();
    const { server } = await serve(gateway);
    const client = connect(server.port, "127.0.0.1", () =>
        client.end(`POST /orders HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n${bytes}`),
    );
    client.on("error", () => undefined).resume();
    await turnUntil(() => log.some(({ path }) => path === "/orders"));
    expect(log.find(({ path }) => path === "/orders")).toMatchObject({ status: 400 });
    expect(JSON.stringify(log)).not.toContain("unexpected");
});

describe("a server that stops", () => {
    /** Requests a URL over a connection that is kept alive. */
    const get = (url: string) =>
        new Promise<{ status: number; connection: string | undefined }>((resolve, reject) => {
            const agent = new Agent({ keepAlive: true });
            onTestFinished(() => agent.destroy());
            const sent = request(url, { agent }, (response) => {
                const { statusCode, headers } = response.resume();
                response.on("end", () => resolve({ status: statusCode!, connection: headers.connection }));
            });
            sent.on("error", reject).end();
        });

    it("does not wait for clients that keep a connection alive", async () => {
        const { gateway } = await openGateway();
        const { server, url } = await serve(gateway);
        expect((await get(url)).connection).toBe("keep-alive");
        stopClock();
        expect(await server.stop()).toBe(0);
    });

    it("keeps serving for its delay, and has clients that keep a connection open another", async () => {
        const { gateway } = await openGateway();
        const { server, url } = await serve(gateway);
        stopClock();
        let stopped = false;
        const stop = server.stop(1_000).finally(() => (stopped = true));
        for (let turn = 0; turn < 3; turn++) {
            expect(await get(`${url}/health/liveness`)).toEqual({ status: 200, connection: "close" });
        }
        await pass(999);
        expect(stopped).toBe(false);
        await pass(1);
        expect(await stop).toBe(0);
    });

    it("finishes requests in flight, accepts no new ones, and cuts those that take longer than 5 s", async () => {
        const held: ServerResponse[] = [];
        const toys = await answering((_request, response) => void held.push(response));
        const { gateway } = await openGateway({ toys });
        const { server, url } = await serve(gateway);
        const hanging = await serve(new Hono().get("/", () => new Promise<Response>(() => {})));
        stopClock();
        const [answer, lost] = [get(`${url}/products`), get(hanging.url).catch(() => "cut")];
        await turnUntil(() => held.length === 1);
        const [finished, cut] = [server.stop(), hanging.server.stop()];
        await expect(get(`${url}/health/liveness`)).rejects.toThrow("ECONNREFUSED");
        held[0]!.end(JSON.stringify(list("TOYS")));
        expect((await answer).status).toBe(200);
        expect(await finished).toBe(0);
        await pass(5_000);
        expect([await lost, await cut]).toEqual(["cut", 1]);
    });
});

import { connect } from "node:net";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createApplication } from "../../services/shared/application";
import { readJsonBody } from "../../services/shared/body";
import { createLog } from "../../services/shared/log";
import { startGateway } from "./support/gateway";
import { eventually } from "./support/ports";
import { expectProblem, sendRaw } from "./support/raw";

describe("a request that makes no sense is answered with a problem document, the connection closed", () => {
    const senseless = [
        ["that is no HTTP", "hello\r\n\r\n", 400],
        ["without a host", "GET /products HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
        ["with an impossible host", "GET /products HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n", 400],
        [
            "with two lengths",
            "POST /products HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            400,
        ],
        [
            "with a length and chunks",
            "POST /products HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400,
        ],
        ["with headers without end", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431],
        ["for a path that does not decode", "GET /%E0%A4%A HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 404],
        [
            "of a method that a path does not have",
            "DELETE /products HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            405,
        ],
        [
            "with a huge body",
            `POST /products HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n${"x".repeat(100_000)}`,
            413,
        ],
        [
            "with a huge body in chunks",
            `POST /products HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${"8000\r\n" + "x".repeat(0x8000) + "\r\n"}`.concat(
                ("8000\r\n" + "x".repeat(0x8000) + "\r\n").repeat(3),
            ),
            413,
        ],
    ] as const;
    it.each(senseless)("%s", async (_what, bytes, status) => {
        const { gateway } = await startGateway();
        expectProblem(await sendRaw(gateway.url, bytes), status);
    });
});

it.each([
    ["Content-Length: 50", "{"],
    ["Transfer-Encoding: chunked", "5\r\n{"],
])("a body that ends before it is whole is no mistake of the gateway's: %s", async (header, bytes) => {
    const { gateway } = await startGateway();
    const { hostname, port } = new URL(gateway.url);
    const client = connect(Number(port), hostname, () =>
        client.end(`POST /orders HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n${bytes}`),
    );
    client.on("error", () => undefined).resume();
    await eventually("the gateway's log tells of it", () => gateway.output().includes('"path":"/orders"'));
    expect(gateway.output()).toContain('"status":400');
    expect(gateway.output()).not.toContain("unforeseen");
});

describe("a JSON body", () => {
    const schema = z.strictObject({ items: z.array(z.strictObject({ quantity: z.int().min(1).max(100) })).min(1) });
    const application: Hono = createApplication(createLog("test", "silent"));
    application.post("/", async (context) => context.json(await readJsonBody(context, schema)));
    const post = (body: string, type = "application/json") =>
        application.request("/", { method: "POST", body, headers: { "Content-Type": type } });

    it("that fits is read", async () => {
        const document = { items: [{ quantity: 3 }] };
        expect(await (await post(JSON.stringify(document), "application/json; charset=utf-8")).json()).toEqual(
            document,
        );
    });

    it.each([
        ["that is no JSON", "{", "application/json", 400],
        ["that is empty", "", "application/json", 400],
        ["that claims to be something else", "{}", "text/plain", 415],
    ] as const)("%s is refused", async (_what, body, type, status) => {
        const response = await post(body, type);
        expect(response.status).toBe(status);
        expect(response.headers.get("content-type")).toBe("application/problem+json");
    });

    it("that does not fit is refused with every wrong field by its name", async () => {
        const response = await post(
            JSON.stringify({ items: [{ quantity: 1 }, { quantity: 0 }, { quantity: 1e9, colour: "red" }] }),
        );
        const { errors, detail } = (await response.json()) as { errors: { pointer: string }[]; detail: string };
        expect(response.status).toBe(422);
        expect(errors.map(({ pointer }) => pointer).sort()).toEqual([
            "/items/1/quantity",
            "/items/2",
            "/items/2/quantity",
        ]);
        expect(detail).toContain("/items/1/quantity: ");
        expect(detail).toContain("colour");
    });
});

import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:net";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { textOf } from "../../../components/manifest/read";
import { download } from "../../../toolchain/download";

/** A server, and a proxy that leads to it whichever host it is asked for. */
let servers: Server[] = [];
let asked: string[] = [];

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeEach(async () => {
    asked = [];
    const server = createServer((request, response) => response.end(`from ${request.url}`));
    const proxy = createServer((request, response) => {
        asked.push(request.url!);
        response.end(`by the proxy: ${request.url}`);
    }).on("connect", ({ url }, near: Socket) => {
        asked.push(url!);
        const far = connect((server.address() as AddressInfo).port, "127.0.0.1", () =>
            near.write("HTTP/1.1 200 OK\r\n\r\n"),
        );
        far.pipe(near).pipe(far);
        for (const each of [far, near]) each.on("error", () => [far, near].forEach((one) => one.destroy()));
    });
    servers = [server, proxy];
    for (const each of servers) await new Promise<void>((resolve) => each.listen(0, "127.0.0.1", resolve));
    for (const name of ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"])
        vi.stubEnv(name, undefined);
    vi.stubEnv("http_proxy", urlOf(proxy));
});

afterEach(() => {
    vi.unstubAllEnvs();
    for (const each of servers) each.closeAllConnections();
    for (const each of servers) each.close();
});

it("a manifest, a chart's index and Pulumi's releases are downloaded through the environment's proxy", async () => {
    expect(await textOf("http://charts.example/index.yaml")).toMatch(/\/index\.yaml$/);
    expect(asked).toEqual(["charts.example:80"]);
    const response = await download("http://get.example", { method: "HEAD", signal: AbortSignal.timeout(5_000) });
    expect(response.status).toBe(200);
    expect(asked[1]).toMatch(/get\.example/);
});

it("what is on this machine, or in NO_PROXY, is downloaded directly", async () => {
    expect(await textOf(`${urlOf(servers[0]!)}/shop.yaml`)).toBe("from /shop.yaml");
    vi.stubEnv("NO_PROXY", "charts.example");
    await expect(textOf("http://charts.example/index.yaml")).rejects.toThrow("fetch failed");
    expect(asked).toEqual([]);
});

import { writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Cluster, isTimeout, messageOf } from "../../../../chaos/cluster/client";
import { problemOf } from "../../../../chaos/cluster/problem";
import { otherResources, resources } from "../../../../chaos/cluster/resources";
import { secureServer } from "./secure-server";

const server = secureServer();
const { cluster, folder, key, cert } = server;
const proxies: { close(): void }[] = [];
afterEach(() => {
    for (const proxy of proxies.splice(0)) proxy.close();
});

const read = (of: Cluster) => of.read({ resource: otherResources.namespace, name: "demo" });

describe("a server's certificate", () => {
    it("is compared with tls-server-name, and with the address without it", async () => {
        expect(await read(cluster())).toMatchObject({ metadata: { name: "demo" } });
        const other = read(cluster({ "tls-server-name": "other.example" }));
        await expect(other).rejects.toThrow("does not match certificate's altnames");
        await expect(read(cluster({ "tls-server-name": undefined }))).rejects.toThrow("does not match");
    });

    it("must be signed by the CA, unless it need not be verified", async () => {
        const without = { "certificate-authority-data": undefined };
        expect(await read(cluster(without)).catch(problemOf)).toMatch(
            /^the API server at https:\S+ cannot be asked: self/,
        );
        expect(await read(cluster({ ...without, "insecure-skip-tls-verify": true }))).toBeDefined();
    });
});

it("a client certificate is shown, from the kubeconfig's text", async () => {
    let shown: unknown;
    server.answer = ({ socket }, response) => {
        shown = (socket as TLSSocket).getPeerCertificate().subject?.CN;
        response.end("{}");
    };
    const data = (text: string) => Buffer.from(text).toString("base64");
    await read(cluster({}, { "client-certificate-data": data(cert), "client-key-data": data(key) }));
    expect(shown).toBeTypeOf("string");
});

describe("an answer", () => {
    it("in chunks, compressed or not, keeps its connection for the next call", async () => {
        const text = JSON.stringify({ metadata: { name: "ü".repeat(50_000) } });
        const wanted: (string | undefined)[] = [];
        server.answer = ({ headers }, response) => {
            wanted.push(headers["accept-encoding"]);
            const isPacked = wanted.length > 1;
            const bytes = isPacked ? gzipSync(text) : Buffer.from(text);
            if (isPacked) response.setHeader("content-encoding", "gzip");
            for (let at = 0; at < bytes.length; at += 777) response.write(bytes.subarray(at, at + 777));
            response.end();
        };
        const of = cluster();
        for (let call = 0; call < 3; call++) expect((await read(of)).metadata!.name).toHaveLength(50_000);
        expect([server.connections, wanted]).toEqual([1, ["gzip", "gzip", "gzip"]]);
    });

    it.each<[string, (response: ServerResponse) => void]>([
        ["does not begin", () => undefined],
        ["never ends", (response) => void setInterval(() => response.write(" "), 20).unref()],
        [
            "never ends, and is compressed",
            (response) => response.setHeader("content-encoding", "gzip").write(gzipSync("x")),
        ],
    ])("that %s is given up in time", async (_, begin) => {
        server.answer = (_request, response) => begin(response);
        expect(await read(cluster({}, {}, 300)).catch(problemOf)).toMatch(/^the API server did not answer in time\. /);
    });

    it("that is cut off, such as a pod's log, is no answer", async () => {
        server.answer = (_, response) => {
            response.writeHead(200, { "content-length": 100 }).write("half");
            setTimeout(() => response.destroy(), 20);
        };
        const log = cluster().log({ namespace: "demo", name: "web-1" }, { tailLines: 3 });
        expect(await log.catch(messageOf)).toMatch(
            /^request to https:\S+\/pods\/web-1\/log\?tailLines=3 failed, reason: aborted/,
        );
    });

    it("of another form than JSON is an error", async () => {
        server.answer = (_, response) => response.end("<html>");
        await expect(read(cluster())).rejects.toThrow(SyntaxError);
    });
});

it("a watch begins where its list ends, and gives each change, however it comes", async () => {
    const event = (type: string, name: string) => `${JSON.stringify({ type, object: { metadata: { name } } })}\n`;
    const urls: string[] = [];
    server.answer = ({ url }, response) => {
        urls.push(url!);
        if (!url!.includes("watch")) return void response.end('{"metadata":{"resourceVersion":"7"},"items":null}');
        const text = event("ADDED", "a") + event("DELETED", "b");
        response.write(text.slice(0, 50));
        setTimeout(() => response.end(text.slice(50)), 20);
    };
    const seen: unknown[] = [];
    const onEvent = ({ type, object }: { type: string; object: { metadata?: { name?: string } } }) =>
        seen.push(`${type} ${object.metadata?.name}`);
    const { signal } = new AbortController();
    await cluster().watch(resources.pod, { namespace: "demo" }, (list) => seen.push(list), onEvent, signal);
    expect(seen).toEqual([[], "ADDED a", "DELETED b"]);
    expect(urls[1]).toBe("/api/v1/namespaces/demo/pods?watch=true&resourceVersion=7");
});

describe("a proxy", () => {
    const joined = (near: Socket, head: string | Buffer) => {
        const far = connectTcp(server.port, "127.0.0.1", () => near.write(head));
        far.on("error", () => near.destroy()).pipe(near);
        near.on("error", () => far.destroy()).pipe(far);
    };
    const started = async (proxy: ReturnType<typeof createTcpServer>, scheme: string, login: string) => {
        proxies.push(proxy);
        await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
        return `${scheme}://${login}127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    };

    it("by HTTP is told the login, and the host as the kubeconfig names it", async () => {
        const told: unknown[] = [];
        const proxy = createHttpServer().on("connect", ({ url, headers }, near: Socket) => {
            told.push(url, headers["proxy-authorization"]);
            joined(near, "HTTP/1.1 200 OK\r\n\r\n");
        });
        const url = await started(proxy, "http", "me:p%40ss@");
        const of = cluster({ server: "https://api.example:6443", "proxy-url": url });
        await read(of);
        await read(of);
        expect(told).toEqual(["api.example:6443", `Basic ${Buffer.from("me:p@ss").toString("base64")}`]);
    });

    it.each([407, 502])("by HTTP that answers with %i is named, without its password", async (status) => {
        const proxy = createHttpServer().on("connect", (_, near: Socket) => near.end(`HTTP/1.1 ${status} No\r\n\r\n`));
        const url = await started(proxy, "http", "me:hidden@");
        const problem = await read(cluster({ "proxy-url": url })).catch(problemOf);
        expect(problem).toContain(`cannot be asked: the proxy answered with status ${status}`);
        expect(problem).not.toContain("hidden");
    });

    /** Of SOCKS 5, with a login; its bytes come one by one. */
    const socks = (told: unknown[], refusal = 0) => createTcpServer((near) => void serveSocks(near, told, refusal));

    async function serveSocks(near: Socket, told: unknown[], refusal: number): Promise<void> {
        const slowly = async (...bytes: number[]) => {
            for (const byte of bytes) {
                near.write(Uint8Array.of(byte));
                await new Promise((resolve) => setTimeout(resolve, 2));
            }
        };
        const next = () => new Promise<Buffer>((resolve) => near.once("data", resolve));
        near.on("error", () => undefined);
        told.push([...(await next())]);
        const login = next();
        await slowly(5, 2);
        told.push((await login).toString("latin1"));
        const asked = next();
        await slowly(1, 0);
        const request = await asked;
        told.push([...request.subarray(0, 4)], request.subarray(4).toString("latin1"));
        // Its own address is a name.
        await slowly(5, refusal, 0, 3, 2, 97, 98, 0);
        if (refusal === 0) joined(near, Buffer.of(1));
    }

    it("by SOCKS 5 is told the login, and the host by its name", async () => {
        const told: unknown[] = [];
        const url = await started(socks(told), "socks5", "me:p%40ss@");
        await read(cluster({ server: "https://api.example:6443", "proxy-url": url }));
        const hello = [5, 1, 2];
        expect(told).toEqual([hello, "\x01\x02me\x04p@ss", [5, 1, 0, 3], "\x0bapi.example\x19\x2b"]);
    });

    it("by SOCKS 5 is told an address of IPv6 in its 16 bytes", async () => {
        const told: unknown[] = [];
        const url = await started(socks(told), "socks5", "me:p@");
        await read(cluster({ server: "https://[2001:db8::7]:443", "proxy-url": url }));
        expect(told.slice(2)).toEqual([[5, 1, 0, 4], `\x20\x01\x0d\xb8${"\0".repeat(11)}\x07\x01\xbb`]);
    });

    it("by SOCKS 5 that refuses the connection says why", async () => {
        const url = await started(socks([], 4), "socks5", "me:p@");
        const problem = await read(cluster({ "proxy-url": url })).catch(problemOf);
        expect(problem).toContain("the proxy finds the host unreachable");
    });

    it.each(["http", "socks5"])("by %s that never answers costs a call its time, and no more", async (scheme) => {
        const waiting: Socket[] = [];
        const proxy = createTcpServer((near) => waiting.push(near.on("error", () => undefined)));
        const url = await started(proxy, scheme, "");
        const begun = performance.now();
        const error: unknown = await read(cluster({ "proxy-url": url }, {}, 300)).catch((problem: unknown) => problem);
        expect(isTimeout(error)).toBe(true);
        expect(performance.now() - begun).toBeLessThan(5_000);
        waiting.forEach((near) => near.destroy());
    });

    it("before a server that rejects the client's key is no end of this process", async () => {
        const proxy = createHttpServer().on("connect", (_, near: Socket) => joined(near, "HTTP/1.1 200 OK\r\n\r\n"));
        const url = await started(proxy, "http", "");
        const text = (value: string) => Buffer.from(value).toString("base64");
        const user = { "client-certificate-data": text(cert), "client-key-data": text("no key") };
        await expect(read(cluster({ "proxy-url": url }, user, 3_000))).rejects.toThrow(/reason: /);
    });

    it.each(["http", "socks5"])("by %s that closes the connection is no answer", async (scheme) => {
        const url = await started(
            createTcpServer((near) => near.destroy()),
            scheme,
            "",
        );
        await expect(read(cluster({ "proxy-url": url }))).rejects.toThrow(
            /reason: (?:the proxy closed|.*ECONNRESET|socket hang up)/,
        );
    });
});

describe("a call", () => {
    it("has all its time once an exec plugin has given credentials: that may wait for a person", async () => {
        const plugin = join(folder, "slow.sh");
        const given = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token: "t" } };
        writeFileSync(plugin, `#!/bin/sh\nsleep 1\necho '${JSON.stringify(given)}'\n`, { mode: 0o755 });
        const user = { exec: { apiVersion: given.apiVersion, command: plugin } };
        expect(await read(cluster({}, user, 700))).toMatchObject({ metadata: { name: "demo" } });
    });

    it("is sent again if the server had closed the kept connection, and it only reads", async () => {
        const of = cluster();
        await read(of);
        server.answer = ({ socket }, response) =>
            server.connections > 1 ? response.end('{"metadata":{"name":"demo"}}') : socket.destroy();
        expect(await read(of)).toMatchObject({ metadata: { name: "demo" } });
        expect(server.connections).toBe(2);
    });

    it("follows the server elsewhere on the same host, as kubectl does", async () => {
        server.answer = ({ url = "" }, response) => {
            if (url.startsWith("/moved")) return void response.end('{"metadata":{"name":"demo"}}');
            response.writeHead(301, { location: `/moved${url}` }).end();
        };
        expect(await read(cluster())).toMatchObject({ metadata: { name: "demo" } });
    });

    it("does not follow it to another host, nor an application's answer that it passes on", async () => {
        server.answer = (_, response) => response.writeHead(302, { location: "https://other.example/api" }).end();
        await expect(read(cluster())).rejects.toThrow("302");
        server.answer = (_, response) => response.writeHead(302, { location: "/login" }).end();
        const path = "/api/v1/namespaces/demo/services/web/proxy/";
        expect(await cluster().ask(path)).toMatchObject({ status: 302 });
    });

    it.each<[string, object]>([
        ["as-groups", { as: "jane", "as-groups": null, "as-user-extra": null }],
        ["config", { "auth-provider": { name: "oidc", config: null } }],
    ])("is sent although the kubeconfig has nothing in %s", async (_, user) => {
        expect(await read(cluster({}, user))).toMatchObject({ metadata: { name: "demo" } });
    });
});

describe("an auth-provider", () => {
    const jwt = (exp: number) => `h.${Buffer.from(JSON.stringify({ exp })).toString("base64url")}.s`;
    const later = Math.ceil(Date.now() / 1_000) + 3_600;
    const oidc = (config: object) => ({ "auth-provider": { name: "oidc", config } });
    let bearers: (string | undefined)[];
    beforeEach(() => {
        bearers = [];
        server.answer = ({ headers }, response) => {
            bearers.push(headers.authorization);
            response.end("{}");
        };
    });
    afterEach(() => void vi.unstubAllGlobals());

    it("oidc gives its token, and another one for the refresh token once that has expired", async () => {
        await read(cluster({}, oidc({ "id-token": jwt(later) })));
        const sent: [string, unknown][] = [];
        vi.stubGlobal("fetch", async (url: string, { body }: { body?: URLSearchParams }) => {
            sent.push([url, body && Object.fromEntries(body)]);
            return Response.json(body ? { id_token: jwt(later) } : { token_endpoint: "https://idp.example/token" });
        });
        const login = { "client-id": "c", "refresh-token": "r", "idp-issuer-url": "https://idp.example/" };
        const of = cluster({}, oidc({ "id-token": jwt(1), ...login }));
        await read(of);
        await read(of);
        expect(bearers).toEqual(Array.from({ length: 3 }, () => `Bearer ${jwt(later)}`));
        expect(sent).toEqual([
            ["https://idp.example/.well-known/openid-configuration", undefined],
            ["https://idp.example/token", { grant_type: "refresh_token", refresh_token: "r", client_id: "c" }],
        ]);
    });

    it("of a program runs that once its token has expired", async () => {
        const printed = JSON.stringify({ credential: { token: "fresh", until: "2999-01-01T00:00:00Z" } });
        const config = {
            "access-token": "old",
            expiry: "2020-01-01T00:00:00Z",
            "cmd-path": "echo",
            "cmd-args": `'${printed}'`,
            "token-key": "{.credential.token}",
            "expiry-key": "{.credential.until}",
        };
        const of = cluster({}, { "auth-provider": { name: "gcp", config } });
        await read(of);
        await read(of);
        expect(bearers).toEqual(["Bearer fresh", "Bearer fresh"]);
    });
});

import { writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { callApi, unread } from "../../../chaos/cluster/in-cluster-api";
import { readerOf } from "../../../services/agent/discovery";
import { podLister } from "../../../services/gateway/pod-list";
import { makeCertificate, startApiServer } from "./support/api-server";

describe("a call to the API server", () => {
    it("sends the account's current token, the body, and the content type of its method", async () => {
        const received: unknown[] = [];
        const server = await startApiServer((request, response) => {
            const { method, url, headers } = request;
            request.on("data", (body) => {
                received.push([method, url, headers.authorization, headers["content-type"], String(body)]);
                response.writeHead(201).end("created");
            });
        });
        const patched = await callApi("/a", { method: "PATCH", body: { spec: {} } }, server);
        expect(patched).toMatchObject({ status: 201, body: "created" });
        writeFileSync(`${server.account}/token`, "a renewed token");
        await callApi("/b", { method: "DELETE", body: { gracePeriodSeconds: 0 } }, server);
        expect(received).toEqual([
            ["PATCH", "/a", "Bearer a token", "application/merge-patch+json", '{"spec":{}}'],
            ["DELETE", "/b", "Bearer a renewed token", "application/json", '{"gracePeriodSeconds":0}'],
        ]);
    });

    it("fails if the server sends nothing for too long, before or in the middle of its response", async () => {
        const silent = await startApiServer(() => {});
        const stopping = await startApiServer((_request, response) => void response.write("{"));
        for (const server of [silent, stopping])
            await expect(callApi("/", { silenceMs: 50 }, server)).rejects.toThrow("sent nothing for 50 ms");
    });
});

describe("the agent's reader", () => {
    it("reads a watch line by line, however the lines arrive", async () => {
        let response!: ServerResponse;
        const server = await startApiServer((_request, opened) => void (response = opened).write('{"a":1}\n{"b'));
        const lines: string[] = [];
        const onLine = (line: string) => {
            if (lines.push(line) === 1) response.end('":2}\n');
        };
        await readerOf(server).watch("/pods?watch=true", onLine, 1_000);
        expect(lines).toEqual(['{"a":1}', '{"b":2}']);
    });

    it("rejects any status but 200, in lists and watches", async () => {
        const server = await startApiServer((_request, response) => void response.writeHead(410).end("{}"));
        const reader = readerOf(server);
        await expect(reader.get("/pods?limit=1")).rejects.toEqual(unread(410, "/pods"));
        await expect(reader.watch("/pods", () => {}, 1_000)).rejects.toEqual(unread(410, "/pods"));
    });
});

describe("the pods in the gateway's namespace", () => {
    it("are listed with what the gateway reads of them, by its ServiceAccount", async () => {
        const ready = { conditions: [{ type: "Ready", status: "True" }] };
        const notReady = { conditions: [{ type: "Ready", status: "False" }] };
        const pods = [
            { metadata: { name: "a", labels: { "shop/target": "x" }, annotations: { note: "y" } }, status: ready },
            { metadata: { name: "b", deletionTimestamp: "2026-01-01T00:00:00Z" }, status: ready },
            { metadata: { name: "c" }, status: notReady },
            { metadata: { name: "d" }, status: {} },
        ];
        const server = await startApiServer(({ url, headers }, response) => {
            const allowed = url === "/api/v1/namespaces/demo/pods" && headers.authorization === "Bearer a token";
            response.writeHead(allowed ? 200 : 403).end(JSON.stringify({ items: pods }));
        });
        expect(await podLister(server)()).toEqual([
            { name: "a", labels: { "shop/target": "x" }, annotations: { note: "y" }, isReady: true },
            { name: "b", labels: {}, annotations: {}, isReady: false },
            { name: "c", labels: {}, annotations: {}, isReady: false },
            { name: "d", labels: {}, annotations: {}, isReady: false },
        ]);
    });

    it.each([401, 403, 503])("are unknown if the API server answers with %i", async (status) => {
        const server = await startApiServer((_request, response) => void response.writeHead(status).end("{}"));
        await expect(podLister(server)()).rejects.toThrow(`the API server answered with status ${status}`);
    });

    it("are unknown if the answer is not a list of pods", async () => {
        const server = await startApiServer((_request, response) => void response.end('{"kind":"Status"}'));
        await expect(podLister(server)()).rejects.toThrow();
    });

    it("are unknown if the API server does not answer within the caller's limit", async () => {
        const server = await startApiServer(() => {});
        await expect(podLister(server)()).rejects.toThrow("aborted");
    });

    it("are listed at most once a second, over one connection, however many ask, also after a failure", async () => {
        const [urls, ports] = [[] as string[], new Set<number>()];
        let status = 200;
        const server = await startApiServer(({ url, socket }, response) => {
            urls.push(url!);
            ports.add(socket.remotePort!);
            response.writeHead(status).end('{"items":[]}');
        });
        const listPods = podLister(server);
        const ask = async () =>
            (await Promise.allSettled(Array.from({ length: 100 }, listPods))).map((one) => one.status);
        expect(new Set(await ask())).toEqual(new Set(["fulfilled"]));
        await ask();
        expect(urls).toHaveLength(1);
        await sleep(1_000);
        status = 503;
        expect(new Set(await ask())).toEqual(new Set(["rejected"]));
        await ask();
        expect([urls.length, ports.size]).toEqual([2, 1]);
    });

    it("are not requested from a server that the account's CA did not sign", async () => {
        let requested = false;
        const server = await startApiServer((_request, response) => {
            requested = true;
            response.end();
        });
        makeCertificate(server.account);
        await expect(podLister(server)()).rejects.toThrow(/certificate/);
        expect(requested).toBe(false);
    });
});

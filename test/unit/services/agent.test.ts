import { describe, expect, it } from "vitest";
import { createAgent } from "../../../services/agent/agent-app";
import { unread } from "../../../chaos/cluster/in-cluster-api";
import { type ApiReader, Discovery } from "../../../services/agent/discovery";
import { createLog } from "../../../services/shared/log";
import { pass, stopClock } from "./support/clock";
import type { Discovered } from "../../../chaos/targets/containers";

const log = createLog("agent", "silent");
const key = "the-agent-key-of-this-test";
const container = {
    namespace: "demo",
    pod: "hot-deals-1",
    uid: "1",
    container: "hot-deals",
    containerId: "c",
    address: "10.0.0.1",
    ports: [8080],
    ready: true,
    attributes: {},
};
const agentThat = (containers: Discovered[] | undefined, ageMs = 0) =>
    createAgent({
        key,
        log,
        discovery: {
            list: function* () {
                yield* containers ?? [];
            },
            view: () => containers && { containers: containers.length, ageMs },
        },
    });

describe("the agent hides its targets from callers without the key", () => {
    it.each([
        ["no key", {}],
        ["another key", { authorization: "Bearer another-key-of-no-use" }],
        ["the beginning of the key", { authorization: `Bearer ${key.slice(0, -1)}` }],
        ["the key and more", { "x-agent-key": `${key}x` }],
        ["the key in another scheme", { authorization: `Basic ${key}` }],
    ])("%s", async (_, headers) => {
        const response = await agentThat([container]).request("/targets", { headers });
        expect(response.status).toBe(401);
        expect(response.headers.get("content-type")).toContain("application/problem+json");
        expect(response.headers.get("www-authenticate")).toBe("Bearer");
        expect(await response.text()).not.toMatch(/hot-deals|the-agent-key/);
    });

    it.each([
        ["Authorization", `Bearer ${key}`],
        ["X-Agent-Key", key],
    ])("but lists all of them for the key in %s", async (header, value) => {
        for (const containers of [[], [container], [container, container]]) {
            const response = await agentThat(containers).request("/targets", { headers: { [header]: value } });
            expect(await response.json()).toEqual({ targets: containers });
        }
    });
});

describe("the agent's health", () => {
    it("shows the number of known containers and the age of that view", async () => {
        const response = await agentThat([container], 1_500).request("/health/readiness");
        expect(await response.json()).toEqual({ status: "UP", containers: 1, ageMs: 1_500 });
    });
    it("is not ready before its first list, nor with an old view", async () => {
        for (const agent of [agentThat(undefined), agentThat([container], 3_600_000)])
            expect((await agent.request("/health/readiness")).status).toBe(503);
    });
});

describe("discovery", () => {
    const pod = (name: string, resourceVersion = "2") => ({
        metadata: {
            name,
            namespace: "demo",
            uid: name,
            resourceVersion,
            ownerReferences: [{ kind: "ReplicaSet", name: "hot-deals-abc", uid: "r" }],
        },
        spec: { nodeName: "node", containers: [{ name: "hot-deals" }] },
        status: { phase: "Running", podIP: "10.0.0.1" },
    });

    it("keeps its view when it loses the watch, and lists again", async () => {
        let lists = 0;
        let replicaSets = 0;
        const api: ApiReader = {
            get: async (path) => {
                if (path.includes("replicasets")) {
                    replicaSets++;
                    return {
                        metadata: { ownerReferences: [{ kind: "Deployment", name: "hot-deals", uid: "d" }] },
                    } as never;
                }
                lists++;
                return {
                    metadata: { resourceVersion: "1" },
                    items: lists === 1 ? [pod("a")] : [pod("a"), pod("c")],
                } as never;
            },
            watch: async (_, onLine) => {
                if (lists > 1) return new Promise(() => undefined);
                onLine(JSON.stringify({ type: "ADDED", object: pod("b") }));
                onLine(JSON.stringify({ type: "DELETED", object: pod("a", "3") }));
                onLine(JSON.stringify({ type: "ERROR", object: { code: 410, metadata: {} } }));
            },
        };
        const discovery = new Discovery({ api, node: "node", clusterName: "c", log });
        stopClock();
        void discovery.run();
        const pods = () =>
            [...discovery.list()].map(({ pod, attributes }) => `${pod}/${String(attributes["k8s.deployment"])}`);
        await pass(999);
        expect(pods()).toEqual(["b/hot-deals"]);
        await pass(1);
        expect(pods()).toEqual(["a/hot-deals", "c/hot-deals"]);
        expect(replicaSets).toBe(1);
        discovery.stop();
    });

    it("lists pods whose owner is gone, without an owner", async () => {
        const api: ApiReader = {
            get: async (path) => {
                if (path.includes("replicasets")) throw unread(404, path);
                return { metadata: { resourceVersion: "1" }, items: [pod("a")] } as never;
            },
            watch: () => new Promise(() => undefined),
        };
        const discovery = new Discovery({ api, node: "node", clusterName: "c", log });
        void discovery.run();
        await expect.poll(() => discovery.view()?.containers).toBe(1);
        expect([...discovery.list()][0]!.attributes).not.toHaveProperty("k8s.deployment");
        discovery.stop();
    });
});

import type { ServerResponse } from "node:http";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { followPods } from "../../../../../../../chaos/kinds/attacks/fault/proxy/follow";
import { Pods, type Slice } from "../../../../../../../chaos/kinds/attacks/fault/proxy/slices";
import { local, until } from "../../../../../../support/until";
import { startApiServer } from "../../../../../services/support/api-server";
import { type Conditions, slice } from "./support";

/** The uids that a port's connections may go to. */
function usedBy(slices: Slice[], port = ""): string[] {
    const pods = new Pods();
    pods.update(slices);
    return chosen(pods, port);
}
const chosen = (pods: Pods, port = "") => {
    const found = Array.from({ length: 100 }, (_, index) => pods.choose(port, index / 100)?.uid);
    return [...new Set(found)].filter((uid) => uid !== undefined).sort();
};

describe("connections go, as those of a Service, to pods that", () => {
    const ready: Conditions = { ready: true, serving: true, terminating: false };
    const starting: Conditions = { ready: false, serving: false, terminating: false };
    const leaving: Conditions = { ready: false, serving: true, terminating: true };
    const left: Conditions = { ready: false, serving: false, terminating: true };

    it.each<[string, Conditions[], number[]]>([
        ["are ready", [ready, starting, leaving, ready], [0, 3]],
        ["may be ready, since nothing is said", [{}, starting], [0]],
        ["serve while they terminate, if none is ready", [starting, leaving, left], [1]],
        ["are none, otherwise", [starting, left], []],
    ])("%s", (_, conditions, expected) => {
        const slices = conditions.map((each, index) => slice(8080 + index, [String(index)], each));
        expect(usedBy(slices)).toEqual(expected.map(String));
    });

    it.each([
        ["is ready", ready],
        ["terminates", leaving],
        ["is not ready", starting],
    ])("a pod that %s is among those of its Service", (_, conditions) => {
        const pods = new Pods();
        expect(pods.include("proxy")).toBe(false);
        const [endpoint] = slice(80, ["a"], conditions).endpoints!;
        pods.update([{ metadata: { name: "s" }, endpoints: [{ ...endpoint!, targetRef: { name: "proxy" } }] }]);
        expect([pods.include("proxy"), pods.include("another")]).toEqual([true, false]);
        pods.update([{ metadata: { name: "s" }, endpoints: null }]);
        expect(pods.include("proxy")).toBe(false);
    });

    it("have the port, under its name and over TCP, in whichever slice", () => {
        const endpoints = (uid: string) => [{ addresses: ["10.0.0.1"], targetRef: { uid } }];
        const slices: Slice[] = [
            { metadata: { name: "a" }, ports: [{ name: "http", port: 80 }], endpoints: endpoints("a") },
            {
                metadata: { name: "b" },
                ports: [{ name: "http", port: 8080, protocol: "TCP" }],
                endpoints: endpoints("b"),
            },
            {
                metadata: { name: "c" },
                ports: [{ name: "http", port: 80, protocol: "UDP" }],
                endpoints: endpoints("c"),
            },
            { metadata: { name: "d" }, ports: [{ name: null, port: 80 }], endpoints: endpoints("d") },
            { metadata: { name: "e" }, ports: null, endpoints: null },
        ];
        expect([usedBy(slices, "http"), usedBy(slices)]).toEqual([["a", "b"], ["d"]]);
        const pods = new Pods();
        pods.update(slices);
        expect(pods.find("http", "b")).toEqual({ uid: "b", address: "10.0.0.1", port: 8080 });
    });

    it("count once with dual stack, and by their address without a uid", () => {
        const both = slice(80, ["a", "b"]);
        const v6 = { ...both, endpoints: both.endpoints!.map((one) => ({ ...one, addresses: ["fd00::1"] })) };
        const manual = { ...both, endpoints: [{ addresses: ["10.0.0.9"] }] };
        expect(usedBy([both, v6, manual])).toEqual(["10.0.0.9", "a", "b"]);
    });
});

describe("the pods are followed", () => {
    /** An API server whose lists and watches a test answers. */
    async function following() {
        const asked: URL[] = [];
        const state = { items: [slice(80, ["a"])], listStatus: 200 };
        let watch: ServerResponse | undefined;
        const server = await startApiServer((request, response) => {
            const url = new URL(request.url!, "https://api");
            asked.push(url);
            if (url.searchParams.has("watch")) {
                watch = response.writeHead(200);
                watch.flushHeaders();
            } else {
                const list = { metadata: { resourceVersion: "7" }, items: state.items };
                response.writeHead(state.listStatus).end(JSON.stringify(list));
            }
        });
        const pods = new Pods();
        const following = new AbortController();
        onTestFinished(() => following.abort());
        const refused = vi.fn();
        void followPods(pods, "demo", "hot-deals-real", server, following.signal, refused);
        const watched = () => until("a watch", () => watch, local);
        await watched();
        return {
            asked,
            pods,
            refused,
            state,
            async send(type: string, object: object): Promise<void> {
                (await watched()).write(`${JSON.stringify({ type, object })}\n`);
            },
            async end(): Promise<void> {
                const ending = await watched();
                watch = undefined;
                ending.end();
            },
            /** How often the slices were listed. */
            lists: () => asked.filter(({ searchParams }) => !searchParams.has("watch")).length,
            uses: (...uids: string[]) => until(`pods ${uids.join()}`, () => chosen(pods).join() === uids.join(), local),
        };
    }

    it("by the EndpointSlices of their Service", async () => {
        const { asked, pods } = await following();
        expect(asked[0]!.pathname).toBe("/apis/discovery.k8s.io/v1/namespaces/demo/endpointslices");
        expect(asked[0]!.searchParams.get("labelSelector")).toBe("kubernetes.io/service-name=hot-deals-real");
        expect(asked[1]!.searchParams.get("resourceVersion")).toBe("7");
        expect([pods.listed, chosen(pods)]).toEqual([true, ["a"]]);
    });

    it("through additions, changes and removals, and a watch that has ended goes on where it was", async () => {
        const api = await following();
        const { asked } = api;
        await api.send("ADDED", { ...slice(81, ["b"]) });
        await api.uses("a", "b");
        await api.send("MODIFIED", slice(80, ["c"]));
        await api.uses("b", "c");
        await api.send("DELETED", slice(81));
        await api.uses("c");
        await api.send("BOOKMARK", { metadata: { name: "", resourceVersion: "99" } });
        await api.send("MODIFIED", { ...slice(80, ["d"]), metadata: { name: "slice-80", resourceVersion: "100" } });
        await api.uses("d");
        await api.end();
        await until("the next watch", () => asked.at(-1)!.searchParams.get("resourceVersion") === "100", local);
        expect(api.lists()).toBe(1);
    });

    it("through a 410 and failures of the API server, during which the last known pods stay", async () => {
        const api = await following();
        const { state } = api;
        state.listStatus = 500;
        await api.send("ERROR", { kind: "Status", code: 410 });
        await api.end();
        await until("a list", () => api.lists() >= 2, local);
        await api.uses("a");
        state.items = [slice(80, ["z"])];
        state.listStatus = 200;
        await api.uses("z");
        expect(api.refused).not.toHaveBeenCalled();
    });

    it("until the proxy may not list them any more, which is told", async () => {
        const api = await following();
        api.state.listStatus = 403;
        await api.send("ERROR", { kind: "Status", code: 410 });
        await api.end();
        await until("a refusal", () => api.refused.mock.calls.length > 0, local);
    });
});

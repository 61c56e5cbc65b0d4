import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { labels } from "../../../../../../chaos/cluster/labels";
import { local, until } from "../../../../../support/until";
import {
    type ObjectApi,
    type ObjectReference,
    type Resource,
    resources,
} from "../../../../../../chaos/cluster/resources";
import {
    faultInJob,
    stateOf,
    stateOfAll,
    whyOutOfReach,
} from "../../../../../../chaos/kinds/attacks/fault/fault-in-job";
import type { JobContext } from "../../../../../../chaos/kinds/attacks/job-part";
import { reportedOf } from "../../../../../../chaos/kinds/attacks/fault/proof";
import type { Probed } from "../../../../../../chaos/kinds/attacks/fault/proxy/probe";
import { httpPod, ofRun, slice, startProxy, target } from "./proxy/support";

const object = { resource: resources.pod, namespace: "demo", name: "run-fault" };
const ready = { metadata: {}, status: { conditions: [{ type: "Ready", status: "True" }] } };

/** What the Job says of a Service with this selector, and of this pod. Undefined for one that is gone. */
function look(selector: Record<string, string> | undefined, pod: object | undefined): Promise<string | undefined> {
    const get = async () => pod;
    return whyOutOfReach({ service: "hot-deals" }, selector && { spec: { selector } }, {
        api: { get } as unknown as ObjectApi,
        object,
    });
}
const ours = { "chaos-experiments/proxy": "run-fault" };

it("a fault goes on while its Service points to a proxy that is ready", async () =>
    expect(await look(ours, ready)).toBeUndefined());

it.each<[string, object | undefined]>([
    ["is gone", undefined],
    ["is not ready", { ...ready, status: {} }],
    ["is being deleted", { ...ready, metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }],
])("it ends if the proxy %s, also if the Job has never seen it", async (_, pod) =>
    expect(await look(ours, pod)).toBe("the proxy of Service hot-deals has ended, or does not answer"),
);

it("it ends if somebody has merged other labels into the selector, which then selects nobody", async () =>
    expect(await look({ ...ours, app: "hot-deals" }, ready)).toContain("which selects nobody"));

it("it goes on if its proxy has taken nobody's place, or somebody has taken the Service back", async () => {
    expect(await look({ app: "hot-deals" }, undefined)).toBeUndefined();
    expect(await look({ "chaos-experiments/proxy": "another-fault" }, undefined)).toBeUndefined();
    expect(await look(undefined, undefined)).toBeUndefined();
});

describe("a proxy that has died", () => {
    const container = (more: object) => ({ ...ready, status: { phase: "Running", containerStatuses: [more] } });
    const dead = container({ restartCount: 0, state: { terminated: { exitCode: 137 } } });
    const begins = container({ restartCount: 1, state: { running: {} } });
    const hangs = container({ restartCount: 0, state: { running: {} } });
    const whyOf = (pods: object[]) => {
        const get = async ({ resource, name }: ObjectReference) => {
            if (resource === resources.pod) return pods.length > 1 ? pods.shift() : pods[0];
            const selector = name === object.name ? {} : ours;
            return { spec: { selector, ports: [{ port: 80 }] } };
        };
        const ending = AbortSignal.abort();
        const noted = { service: { service: "hot-deals", selector: {}, ports: [{ name: "", port: 80, target: 80 }] } };
        const annotations = { "chaos-experiments/access": JSON.stringify({ ...noted, namespace: {} }) };
        const labels = { "chaos-experiments/experiment": "x" };
        const metadata = { name: "the-run-admit-fault-0", labels, annotations };
        const list = async function* ({ kind }: Resource) {
            if (kind === "NetworkPolicy") yield { metadata, spec: { podSelector: { matchLabels: ours } } };
        };
        const context = { api: { get, list }, namespace: "demo", run: "the-run", label: "label", object, ending };
        const part = faultInJob({ service: "hot-deals" } as never, context as never);
        return () => part.whyEndNow!();
    };
    beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
    afterEach(() => void vi.useRealTimers());
    const gone = "the proxy of Service hot-deals has ended, or does not answer";

    it("may start again within 5 s, each time", async () => {
        const look = whyOf([dead, begins, ready, begins]);
        for (const afterMs of [0, 3_000, 1_500, 3_000]) {
            vi.advanceTimersByTime(afterMs);
            expect(await look()).toBeUndefined();
        }
    });

    it("ends the fault if it is not ready by then", async () => {
        const look = whyOf([dead, begins]);
        expect(await look()).toBeUndefined();
        vi.advanceTimersByTime(5_001);
        expect(await look()).toBe(gone);
    });

    it("is not one that runs and does not answer, which ends the fault at once", async () => {
        expect(await whyOf([hangs])()).toBe(gone);
    });
});

const slow = { delayMs: 2_000 };
const failing = { delayMs: 0, abort: 503 };
const answering = { delayMs: 0, abort: { status: 429, headers: { "retry-after": "2" } } };
const calling = { delayMs: 0, abort: { grpc: "UNAVAILABLE" as const } };
const limited = { delayMs: 100, bytesPerSecond: 10_000 };
const cut = { delayMs: 0, cutAfter: 50 };

it.each<[string, Probed, Parameters<typeof stateOf>[2], "open" | "closed" | undefined]>([
    ["one that past the proxy is reached", { saw: "bypassed" }, slow, "open"],
    ["one that answers at once, although it should be slow", { saw: "connected", afterMs: 5 }, slow, "open"],
    ["one that answers late", { saw: "connected", afterMs: 1_999 }, slow, "closed"],
    ["one that has not answered yet", { saw: "silent" }, slow, "closed"],
    ["one that answers with the status", { saw: "status", status: "503", afterMs: 1 }, failing, "closed"],
    ["one that answers with another", { saw: "status", status: "500", afterMs: 1 }, failing, "open"],
    ["one that is connected, although a status should answer", { saw: "connected", afterMs: 1 }, failing, "open"],
    ["one that is silent, although a status should answer", { saw: "silent" }, failing, undefined],
    ["one that is reset", { saw: "reset", afterMs: 1 }, { delayMs: 0, abort: "reset" }, "closed"],
    ["one that hangs", { saw: "silent" }, { delayMs: 0, abort: "hang" }, "closed"],
    ["one that answers with the status and more", { saw: "status", status: "429", afterMs: 1 }, answering, "closed"],
    ["one that answers with the status of gRPC", { saw: "status", status: "grpc 14", afterMs: 1 }, calling, "closed"],
    ["one that answers with another of gRPC", { saw: "status", status: "grpc 2", afterMs: 1 }, calling, "open"],
    ["one that is slowed", { saw: "connected", afterMs: 299 }, limited, "closed"],
    ["one that is only delayed, although it should be slow, too", { saw: "connected", afterMs: 120 }, limited, "open"],
    ["one that is so slow that nothing has come yet", { saw: "silent" }, { delayMs: 0, bytesPerSecond: 1 }, "closed"],
    ["one that is cut", { saw: "reset", afterMs: 1 }, cut, "closed"],
    ["one that answers whole, although it should be cut", { saw: "connected", afterMs: 1 }, cut, "open"],
    ["one that is cut before its time", { saw: "reset", afterMs: 100 }, { ...limited, cutAfter: 9_000 }, "open"],
    ["one that is delayed by nothing", { saw: "connected", afterMs: 1 }, { delayMs: 0 }, "closed"],
    ["one that the proxy cannot reach", { saw: "unreachable", afterMs: 1 }, slow, undefined],
    ["one that cannot be reached", { saw: "refused" }, slow, undefined],
])("of the targets, %s", (_, probed, fault, state) => {
    expect(stateOf(probed, true, fault)).toBe(state);
});

it.each<[string, Probed, "open" | "closed" | undefined]>([
    ["answers at once", { saw: "connected", afterMs: 5 }, "open"],
    ["is held back", { saw: "silent" }, "closed"],
    ["is reset", { saw: "reset", afterMs: 1 }, "closed"],
    ["cannot be reached", { saw: "refused" }, undefined],
])("a pod that is no target and %s", (_, probed, state) => {
    expect(stateOf(probed, false, slow)).toBe(state);
});

it.each<[string, Parameters<typeof stateOfAll>, "open" | "closed" | undefined]>([
    ["a target that is affected at all of them", [["closed", "closed"], true], "closed"],
    ["a target that answers past the fault at one", [["closed", "open"], true], "open"],
    ["a target that is not seen at one", [["closed", undefined], true], undefined],
    ["another pod that answers at all of them", [["open", "open"], false], "open"],
    ["another pod that is affected at one", [["open", "closed"], false], "closed"],
    ["another pod that is not seen at one", [["open", undefined], false], undefined],
    ["a pod that is reached at none", [[], true], undefined],
])("at the addresses of a Service of both families, of %s", (_, args, state) =>
    expect(stateOfAll(...args)).toBe(state),
);

const podOf = (uid: string, name: string) => ({
    ...ready,
    metadata: { uid, name, labels: uid === target ? { [labels.target]: "label" } : {} },
    spec: { containers: [] },
});
const proxyPod = { ...ready, metadata: { labels: { [labels.pass]: ofRun.pass } } };
const failingFault = { service: "hot-deals", delayMs: 0, abort: 503, percentage: 100 };

/** The Job's part of a fault, until the end of the test. @param get what there is of the proxy, or its Service */
function witness(pods: object[], get: (isPod: boolean) => Promise<object | undefined>, fault: object = failingFault) {
    const ending = new AbortController();
    onTestFinished(() => ending.abort());
    const api = {
        get: ({ resource }: ObjectReference) => get(resource === resources.pod),
        async *list() {
            yield* pods;
        },
    };
    const context = { api, namespace: "demo", run: "the-run", label: "label", object, ending: ending.signal };
    return faultInJob(fault as never, { ...context, log: () => undefined } as unknown as JobContext);
}

it.each([
    ["by the names that the proof looks for", ["127.0.0.1"]],
    ["at each address of the Service", ["127.0.0.1", "127.0.0.2"]],
    ["and leaves out an address at which nothing was ever reached", ["127.0.0.1", "255.255.255.255"]],
])("of a fault with a match, it asks about a request of each sort, %s", async (_, clusterIPs) => {
    const match = { path: "/api/*", method: "POST", headers: { "x-session": "mine" }, except: [{ path: "/api/a" }] };
    const fault = { ...failingFault, match };
    const podPort = await httpPod((_, response) => response.end());
    const uids = ["uid-1", target];
    const proxy = await startProxy(podPort, { witness: ["127.0.0.1"], fault, slices: [slice(podPort, uids)] });
    const pods = uids.map((uid, index) => podOf(uid, `hot-deals-${index + 1}`));
    const spec = { clusterIP: "127.0.0.1", clusterIPs, ports: [{ port: proxy.port, targetPort: podPort }] };
    const part = witness(pods, async (isPod) => (isPod ? proxyPod : { spec }), fault);
    await until("the Job has asked", () => part.last!.closed.length + part.last!.open.length > 0, local);

    const ports = [{ port: proxy.port, listen: podPort }];
    const found = { service: "hot-deals", ports, pods: ["hot-deals-1", "hot-deals-2"] };
    const chosen = { found, targets: [{ pod: "hot-deals-2" }] };
    const { hit, spared, passed } = reportedOf({ attack: { match }, chosen } as never);
    expect(part.last!.closed).toEqual(hit);
    expect(part.last!.open).toEqual([...spared, ...passed]);
    expect(passed).toHaveLength(4);
});

it("a witness that comes in the middle of a fault does not call it bypassed before the proxy knows it", async () => {
    const podPort = await httpPod((_, response) => response.end());
    const proxy = await startProxy(podPort, { fault: { abort: 503 } });
    const spec = { clusterIP: "127.0.0.1", ports: [{ port: proxy.port, targetPort: podPort }] };
    for (const [selector, open] of [
        [ours, []],
        [{ app: "hot-deals" }, [`p through hot-deals:${proxy.port}`]],
    ]) {
        let looks = 0;
        const part = witness([podOf(target, "p")], async (isPod) => {
            if (isPod) return proxyPod;
            looks++;
            return { spec: { ...spec, selector } };
        });
        await until("it has looked twice", () => looks > 1, local);
        expect(part.last).toEqual({ open, closed: [] });
    }
});

describe("what the witness has found of a fault", () => {
    const seen = { open: [], closed: ["p through hot-deals:80"] };
    const nothing = { open: [], closed: [] };

    /** A witness that has met the fault. `state.answers` is what the API server does to a look from then on. */
    async function witnessing() {
        const podPort = await httpPod((_, response) => response.end());
        const proxy = await startProxy(podPort, { fault: { abort: 503 }, witness: ["127.0.0.1"] });
        const service = { spec: { clusterIP: "127.0.0.1", selector: ours, ports: [{ port: proxy.port }] } };
        const state = { answers: async (found: object): Promise<object | undefined> => found };
        const part = witness([podOf(target, "p")], (isPod) => state.answers(isPod ? proxyPod : service));
        const named = () => JSON.parse(JSON.stringify(part.last).replaceAll(`:${proxy.port}`, ":80")) as unknown;
        await until("it is met", () => part.last!.closed.length > 0, local);
        return { state, named };
    }

    it.each<[string, () => Promise<object | undefined>]>([
        ["refuses to say where the Service leads", () => Promise.reject(new Error("403"))],
        ["does not answer", () => new Promise(() => {})],
    ])("is nothing once the API server %s, but stays for two seconds", async (_, answers) => {
        const { state, named } = await witnessing();
        state.answers = answers;
        await sleep(2_000);
        expect(named()).toEqual(seen);
        await until("nothing is known", () => isDeepStrictEqual(named(), nothing), local);
    });

    it("is nothing if the Service is gone", async () => {
        const { state, named } = await witnessing();
        state.answers = async () => undefined;
        await until("nothing is known", () => isDeepStrictEqual(named(), nothing), local);
    });
});

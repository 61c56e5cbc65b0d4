import * as grpc from "@grpc/grpc-js";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { orders, OrdersClient } from "../../../../../../support/grpc";
import { local, until } from "../../../../../../support/until";
import { type ProxyOptions, startProxy, target, timed } from "./support";

const { status } = grpc;
const counted = { requests: 0, faulted: 0, unfaultable: 0, unreachable: 0 };

/** A pod that serves gRPC, and what it saw. */
async function orderPod() {
    const seen = { calls: [] as string[], cancelled: 0 };
    const noted = <C extends grpc.ServerUnaryCall<string, string> | grpc.ServerReadableStream<string, string>>(
        name: string,
        call: C,
    ) => {
        seen.calls.push(name);
        call.on("cancelled", () => seen.cancelled++);
        return call;
    };
    const server = new grpc.Server({ "grpc.max_receive_message_length": -1 });
    server.addService(orders, {
        get(call: grpc.ServerUnaryCall<string, string>, answer: grpc.sendUnaryData<string>) {
            noted("get", call);
            if (call.request === "never") return;
            const [from] = call.metadata.get("from-bin");
            const trailers = new grpc.Metadata();
            trailers.set("took", "1 ms");
            if (call.request === "missing")
                return answer({ code: status.NOT_FOUND, details: "no order – 404%", metadata: trailers });
            const header = new grpc.Metadata();
            header.set("served-by", "the pod");
            call.sendMetadata(header);
            answer(null, `order ${call.request}${from ? ` for ${String(from)}` : ""}`, trailers);
        },
        list(call: grpc.ServerWritableStream<string, string>) {
            seen.calls.push("list");
            for (let at = 0; at < Number(call.request); at++) call.write(`order ${at}`);
            call.end();
        },
        put(call: grpc.ServerReadableStream<string, string>, answer: grpc.sendUnaryData<string>) {
            let bytes = 0;
            noted("put", call)
                .on("data", (text: string) => (bytes += text.length))
                .on("end", () => answer(null, `${bytes} bytes`));
        },
        talk(call: grpc.ServerDuplexStream<string, string>) {
            seen.calls.push("talk");
            call.on("data", (text: string) => call.write(`you said ${text}`)).on("end", () => call.end());
            call.on("cancelled", () => seen.cancelled++);
        },
    });
    const port = await new Promise<number>((resolve, reject) =>
        server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
            error ? reject(error) : resolve(bound),
        ),
    );
    onTestFinished(() => server.forceShutdown());
    return { port, seen, server };
}

interface Called {
    code: grpc.status;
    details?: string;
    message?: string;
    headers: Record<string, grpc.MetadataValue>;
    trailers: Record<string, grpc.MetadataValue>;
}

/** A caller with one connection. */
function callerOf(port: number) {
    const client = new OrdersClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), {
        "grpc.enable_retries": 0,
        "grpc.max_receive_message_length": -1,
    });
    onTestFinished(() => client.close());
    const call = (asked: string, from: Record<string, string | Buffer> = {}, deadlineMs = 5_000): Promise<Called> =>
        new Promise((resolve) => {
            const metadata = new grpc.Metadata();
            for (const [name, value] of Object.entries(from)) metadata.set(name, value);
            let headers = {};
            let message: string | undefined;
            let failed: grpc.ServiceError | null = null;
            (client.get as (...args: unknown[]) => grpc.ClientUnaryCall)(
                asked,
                metadata,
                { deadline: Date.now() + deadlineMs },
                (error: grpc.ServiceError | null, answer: string) => ([failed, message] = [error, answer]),
            )
                .on("metadata", (all: grpc.Metadata) => (headers = all.getMap()))
                .on("status", ({ code, metadata: all }: grpc.StatusObject) =>
                    setImmediate(() =>
                        resolve({ code, details: failed?.details, message, headers, trailers: all.getMap() }),
                    ),
                );
        });
    return { client, call, codeOf: async (...args: Parameters<typeof call>) => (await call(...args)).code };
}

async function calling(fault: ProxyOptions["fault"], more: Omit<ProxyOptions, "fault"> = {}) {
    const pod = await orderPod();
    const proxy = await startProxy(pod.port, { ...more, fault });
    return { pod, proxy, ...callerOf(proxy.port) };
}

type Stream = grpc.ClientReadableStream<string>;
const listed = (stream: Stream): Promise<{ messages: string[]; code: grpc.status }> =>
    new Promise((resolve) => {
        const messages: string[] = [];
        stream
            .on("data", (message: string) => messages.push(message))
            .on("error", () => {})
            .on("status", ({ code }: grpc.StatusObject) => setImmediate(() => resolve({ messages, code })));
    });

describe("calls of gRPC that are not hit pass as without a proxy:", () => {
    const others = { abort: 503, match: { path: "/shop.Others/*" } };

    it("message, headers, trailers, binary ones, too", async () => {
        const { call, proxy, pod } = await calling(others);
        const asked = ["1", { "from-bin": Buffer.from("Zoë") }] as const;
        const passed = await call(...asked);
        expect(passed).toMatchObject({ code: status.OK, message: "order 1 for Zoë", trailers: { took: "1 ms" } });
        const dated = { headers: { ...passed.headers, date: expect.any(String) } };
        expect(await callerOf(pod.port).call(...asked)).toEqual({ ...passed, ...dated });
        expect(proxy.counts()).toEqual({ ...counted, unmatched: 1 });
    });

    it("the pod's own failure, with its details and trailers", async () => {
        const { call } = await calling(others);
        const failed = await call("missing");
        expect(failed).toMatchObject({
            code: status.NOT_FOUND,
            details: "no order – 404%",
            trailers: { took: "1 ms" },
        });
    });

    it("streams in each direction, and both at once", async () => {
        const { client } = await calling(others);
        const { messages, code } = await listed(client.list!("300") as Stream);
        expect([messages.length, messages.at(-1), code]).toEqual([300, "order 299", status.OK]);
        const answer = new Promise((resolve) => {
            const put = (client.put as (done: (error: unknown, text: string) => void) => NodeJS.WritableStream)(
                (error, text) => resolve(error ?? text),
            );
            for (let at = 0; at < 40; at++) put.write("x".repeat(100_000));
            put.end();
        });
        expect(await answer).toBe("4000000 bytes");
        const talk = (client.talk as () => grpc.ClientDuplexStream<string, string>)();
        const said: string[] = [];
        talk.on("data", (text: string) => said.push(text));
        for (const text of ["a", "b"]) {
            talk.write(text);
            await until(text, () => said.at(-1) === `you said ${text}`, local);
        }
        talk.end();
        await new Promise((resolve) => talk.on("status", resolve));
    });

    it("messages of megabytes, and hundreds of calls at once on one connection", async () => {
        const { call } = await calling(others);
        const long = "y".repeat(3_000_000);
        expect((await call(long)).message).toHaveLength(long.length + "order ".length);
        const all = await Promise.all(Array.from({ length: 300 }, (_, at) => call(String(at), {}, 20_000)));
        expect(all.map(({ message }) => message)).toEqual(all.map((_, at) => `order ${at}`));
    });

    it("a deadline or a cancellation of the caller, which the pod sees", async () => {
        const { call, pod, client } = await calling(others);
        expect((await call("never", {}, 200)).code).toBe(status.DEADLINE_EXCEEDED);
        await until("the pod saw it", () => pod.seen.cancelled === 1, local);
        const talk = (client.talk as () => grpc.ClientDuplexStream<string, string>)();
        talk.on("error", () => {}).write("a");
        await until("the call", () => pod.seen.calls.includes("talk"), local);
        talk.cancel();
        await until("the pod saw it", () => pod.seen.cancelled === 2, local);
    });

    it("a pod that dies: its callers see that as without a proxy", async () => {
        const { call, pod } = await calling(others);
        expect((await call("1")).code).toBe(status.OK);
        const waiting = call("never");
        await until("the call", () => pod.seen.calls.length === 2, local);
        pod.server.forceShutdown();
        const direct = callerOf(pod.port).codeOf("1", {}, 1_000);
        expect([(await waiting).code, await direct]).toEqual([expect.any(Number), status.UNAVAILABLE]);
        expect([status.UNAVAILABLE, status.CANCELLED]).toContain((await waiting).code);
    });

    it("a pod that shuts down in good order: open calls end, and later ones are new connections", async () => {
        const { call, pod, client } = await calling(others);
        const talk = (client.talk as () => grpc.ClientDuplexStream<string, string>)();
        const said: string[] = [];
        talk.on("data", (text: string) => said.push(text)).write("a");
        await until("the answer", () => said.length === 1, local);
        const isDown = new Promise<void>((resolve) => pod.server.tryShutdown(() => resolve()));
        await sleep(100);
        talk.write("b");
        await until("the answer", () => said.length === 2, local);
        talk.end();
        expect(await new Promise((resolve) => talk.on("status", resolve))).toMatchObject({ code: status.OK });
        await isDown;
        expect((await call("1", {}, 1_000)).code).toBe(status.UNAVAILABLE);
    });
});

describe("a fault hits single calls of gRPC:", () => {
    it("an abort answers with a status and a message, and the pod gets nothing", async () => {
        const abort = { grpc: "RESOURCE_EXHAUSTED" as const, message: "100 % – später" };
        const { call, proxy, pod } = await calling({ abort });
        expect(await call("1")).toMatchObject({ code: status.RESOURCE_EXHAUSTED, details: "100 % – später" });
        expect(pod.seen.calls).toEqual([]);
        expect(proxy.counts()).toEqual({ ...counted, requests: 1, faulted: 1 });
    });

    it("by number, and by default with a message that names the run", async () => {
        const { call } = await calling({ abort: { grpc: 14 } });
        expect(await call("1")).toMatchObject({
            code: status.UNAVAILABLE,
            details: "The chaos experiment's run the-run answers with this status.",
        });
    });

    it("of streams, too, whoever has to send something yet", async () => {
        const { client } = await calling({ abort: { grpc: "UNAVAILABLE" } });
        expect(await listed(client.list!("3") as Stream)).toEqual({ messages: [], code: status.UNAVAILABLE });
        const talk = (client.talk as () => grpc.ClientDuplexStream<string, string>)();
        talk.on("error", () => {}).resume();
        talk.write("a");
        expect(await new Promise((resolve) => talk.on("status", resolve))).toMatchObject({ code: status.UNAVAILABLE });
    });

    it("only those that match: by method and headers, on the same connection", async () => {
        const match = { path: "/shop.Orders/Get", method: "POST", headers: { "x-session": "mine" } };
        const { codeOf, client, proxy } = await calling({ abort: { grpc: "ABORTED" }, match });
        expect(await codeOf("1", { "x-session": "mine" })).toBe(status.ABORTED);
        expect(await codeOf("1", { "x-session": "yours" })).toBe(status.OK);
        expect((await listed(client.list!("1") as Stream)).code).toBe(status.OK);
        expect(proxy.counts()).toEqual({ ...counted, requests: 1, faulted: 1, unmatched: 2 });
    });

    it("a delay holds those that match, and no others", async () => {
        const { call, proxy } = await calling({ delayMs: 400, match: { headers: { "x-session": "mine" } } });
        await call("0");
        const slow = timed(() => call("1", { "x-session": "mine" }));
        expect(await timed(() => call("2"))).toBeLessThan(300);
        expect(await slow).toBeGreaterThan(395);
        expect(proxy.counts()).toEqual({ ...counted, requests: 1, faulted: 1, unmatched: 2 });
    });

    it("one that is cancelled while it is held reaches no pod", async () => {
        const { call, pod } = await calling({ delayMs: 300 });
        expect((await call("1", {}, 100)).code).toBe(status.DEADLINE_EXCEEDED);
        await sleep(400);
        expect(pod.seen.calls).toEqual([]);
    });

    it("a status of HTTP, which a client of gRPC takes for one of its own", async () => {
        const { call, proxy } = await calling({ abort: 503 });
        expect((await call("1")).code).toBe(status.UNAVAILABLE);
        expect(proxy.counts()).toEqual({ ...counted, requests: 1, faulted: 1 });
    });

    it("a reset of the call alone: others on its connection go on", async () => {
        const { call, codeOf, client } = await calling({ abort: "reset", match: { path: "/shop.Orders/Get" } });
        const talk = (client.talk as () => grpc.ClientDuplexStream<string, string>)();
        const said: string[] = [];
        talk.on("error", () => {}).on("data", (text: string) => said.push(text));
        talk.write("a");
        expect((await call("1")).code).toBe(status.INTERNAL);
        talk.write("b");
        await until("the answers", () => said.length === 2, local);
        expect(await codeOf("2")).toBe(status.INTERNAL);
    });

    it("a hang, until the caller waits no longer, or the fault ends", async () => {
        const { call, proxy } = await calling({ abort: "hang" });
        expect((await call("1", {}, 300)).code).toBe(status.DEADLINE_EXCEEDED);
        const waiting = call("2", {}, 10_000);
        await until("the call", () => proxy.counts().faulted === 2, local);
        void proxy.stop({ acceptMs: 1_000 });
        expect((await waiting).code).toBe(status.INTERNAL);
    });

    it("the first ones from when answers count, one of three, and while a pulse is on", async () => {
        const abort = { grpc: "UNAVAILABLE" as const };
        const first = await calling({ abort, first: 2, per: "client" });
        expect(await first.codeOf("0")).toBe(status.OK);
        first.proxy.answersCount();
        const codes = [];
        for (let at = 0; at < 4; at++) codes.push(await first.codeOf(String(at)));
        expect(codes).toEqual([14, 14, 0, 0]);
        expect(first.proxy.clients()).toBe(1);

        const every = await calling({ abort, every: 3 });
        codes.length = 0;
        for (let at = 0; at < 6; at++) codes.push(await every.codeOf(String(at)));
        expect(codes).toEqual([0, 0, 14, 0, 0, 14]);

        const pulse = await calling({ abort, pulse: { onMs: 200, offMs: 60_000 } });
        pulse.proxy.answersCount();
        expect(await pulse.codeOf("1")).toBe(14);
        await sleep(250);
        expect(await pulse.codeOf("1")).toBe(0);
        expect(pulse.proxy.counts()).toMatchObject({ requests: 2, faulted: 1, paused: 1 });
    });

    it("answers at so many bytes per second", async () => {
        const { client, proxy } = await calling({ bytesPerSecond: 4_000 });
        let found: Awaited<ReturnType<typeof listed>>;
        const took = await timed(async () => (found = await listed(client.list!("100") as Stream)));
        expect([found!.code, found!.messages.length]).toEqual([status.OK, 100]);
        // 100 messages of 13 bytes and their heads, and those of the call.
        expect(took).toBeGreaterThan(350);
        expect(took).toBeLessThan(1_500);
        expect(proxy.counts()).toMatchObject({ requests: 1, faulted: 1, throttled: 1 });
    });

    it("an answer is cut within, and after 0 bytes the pod has done its work", async () => {
        const within = await calling({ cutAfter: 600 });
        const { messages, code } = await listed(within.client.list!("100") as Stream);
        expect(code).toBe(status.INTERNAL);
        expect(messages.length).toBeGreaterThan(0);
        expect(messages.length).toBeLessThan(60);
        expect(within.proxy.counts()).toMatchObject({ requests: 1, faulted: 1, cut: 1 });

        const none = await calling({ cutAfter: 0 });
        expect((await none.call("1")).code).toBe(status.INTERNAL);
        expect(none.pod.seen.calls).toEqual(["get"]);
    });

    it("what a caller sends is cut, too", async () => {
        const { client, pod } = await calling({ cutAfter: 100_000, stream: "upstream" });
        const failed = new Promise<grpc.ServiceError>((resolve) => {
            const put = (client.put as (done: (error: grpc.ServiceError) => void) => NodeJS.WritableStream)(resolve);
            put.on("error", () => {});
            for (let at = 0; at < 4; at++) put.write("x".repeat(100_000));
            put.end();
        });
        expect((await failed).code).toBe(status.INTERNAL);
        await until("the pod saw it", () => pod.seen.cancelled === 1, local);
    });

    it("only at the chosen pods, and only if the dice hit", async () => {
        const throws = [0.29, 0.3];
        const some = await calling({ abort: { grpc: 14 }, percentage: 30 }, { random: () => throws.shift()! });
        expect([await some.codeOf("1"), await some.codeOf("2")]).toEqual([14, 0]);
        expect(some.proxy.counts(target)).toMatchObject({ requests: 2, faulted: 1 });
    });

    it("until it ends, and the connection after that: calls go on in a new one", async () => {
        const { codeOf, call, proxy } = await calling({ abort: { grpc: 14 } });
        expect(await codeOf("1")).toBe(14);
        const stopped = proxy.stop({ acceptMs: 1_500 });
        await until("the end of the fault", async () => (await codeOf("2")) === status.OK, local);
        const open = call("never", {}, 2_500);
        await sleep(1_700);
        expect((await open).code).toBe(status.DEADLINE_EXCEEDED);
        await stopped;
    });
});

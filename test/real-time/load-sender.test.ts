import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LoadAction } from "../../chaos/kinds/actions/load/load-action";
import { load } from "../../chaos/kinds/actions/load/load";
import { SenderReader } from "../../chaos/kinds/actions/load/reader";
import { lingersMs } from "../../chaos/kinds/actions/load/sender/settings";
import type { V1Pod } from "../../chaos/values/kubernetes-types";
import { bundledFile } from "../../toolchain/bundle";
import { makeCertificate } from "../support/certificate";
import { scratchFolder } from "../support/scratch";
import { until } from "../support/until";

const program = readFileSync(
    bundledFile(join(__dirname, "../../chaos/kinds/actions/load/sender/send-program.ts")),
    "utf8",
);

const scratch = scratchFolder();

let server: Server;
let received: { at: number; head: IncomingMessage; body: string }[];
/** How long the server takes for an answer, in milliseconds, and its status. */
let takesMs: number;
let status: number;
let connections: number;
let child: ChildProcess | undefined;
let printed: string;

beforeEach(async () => {
    [received, takesMs, status, connections, printed] = [[], 0, 200, 0, ""];
    server = createServer((head, answer) => {
        let body = "";
        head.on("data", (text) => (body += String(text)));
        head.on("end", () => {
            received.push({ at: Date.now(), head, body });
            setTimeout(() => answer.writeHead(status).end("{}"), takesMs);
        });
    }).on("connection", () => connections++);
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
});
afterEach(() => {
    child?.kill("SIGKILL");
    server.closeAllConnections();
    server.close();
});

/** Runs the pod's command, as its container does. */
function send(more: Partial<LoadAction>, secrets: Record<string, string> = {}): LoadAction {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const action: LoadAction = { kind: "load", url, path: "/orders?a=1", perSecond: 20, ...more };
    const spec = load.beside!.podSpec(action, { image: "", programs: { sender: program }, lastsSeconds: 60 });
    const { command, env } = (spec as V1Pod["spec"])!.containers[0]!;
    const [first, ...args] = command!;
    const variables = Object.fromEntries(env!.map(({ name, value }) => [name, value ?? secrets[name]]));
    child = spawn(first!, args, { env: { ...process.env, ...variables }, stdio: "pipe" });
    child.stdout!.on("data", (text) => (printed += String(text)));
    return action;
}

/** What the log says of the last seconds, once there are so many. On a busy machine, some requests are not sent. */
async function lastOf(action: LoadAction, seconds: number) {
    const look = () => {
        const reader = new SenderReader(action);
        reader.read(printed, Date.now());
        return reader.last(seconds);
    };
    return until(`${seconds} seconds are reported`, look, { timeoutMs: 20_000 });
}

describe("a sender", () => {
    it("sends what its definition says, at its rate, over few connections that do not last", async () => {
        const action = send(
            {
                method: "POST",
                headers: { "idempotency-key": "{uuid}" },
                headersFrom: { authorization: { secret: "s", key: "k", prefix: "Bearer " } },
                body: { items: [] },
                bodyFrom: { "login.password": { secret: "s", key: "k" } },
                queryFrom: { token: { secret: "s", key: "k" } },
            },
            { SECRET_1: "one", SECRET_2: "two", SECRET_3: "three" },
        );
        const { due, sent, good } = await lastOf(action, 4);
        expect([due, good]).toEqual([80, sent]);
        expect(sent).toBeGreaterThan(40);
        const [{ head, body }, second] = received as [(typeof received)[0], (typeof received)[0]];
        expect([head.method, head.url]).toEqual(["POST", expect.stringMatching(/^\/orders\?a=1&token=(two|three)$/)]);
        expect(head.headers).toMatchObject({ authorization: "Bearer one", "content-type": "application/json" });
        expect(JSON.parse(body)).toEqual({
            items: [],
            login: { password: expect.stringMatching(/two|three/) as string },
        });
        expect(head.headers["idempotency-key"]).toMatch(/^[0-9a-f-]{36}$/);
        expect(second.head.headers["idempotency-key"]).not.toBe(head.headers["idempotency-key"]);
        expect(connections).toBeGreaterThan(2);
        expect(connections).toBeLessThan(received.length / 2);
        expect(printed).not.toMatch(/one|two|three/);
    });

    it("sends what a check with the same fields sends", async () => {
        const secret = { secret: "s", key: "k" };
        const from = { headersFrom: { "x-key": secret }, queryFrom: { token: secret }, bodyFrom: { key: secret } };
        const secrets = { SECRET_1: "one\n", SECRET_2: "two\r\n", SECRET_3: " three\n" };
        const { good, sent } = await lastOf(send({ path: "/日本?q=é|[]", method: "POST", ...from }, secrets), 1);
        expect(good).toBe(sent);
        const [{ head, body }] = received as [(typeof received)[0]];
        expect(head.url).toBe("/%E6%97%A5%E6%9C%AC?q=%C3%A9|[]&token=two");
        expect([head.headers["x-key"], JSON.parse(body)]).toEqual(["one", { key: "three" }]);
    });

    it.each([
        ["that is empty", " \n", "headersFrom.x-key: the value is empty"],
        ["that no header can have", "s3cret…", 'Invalid character in header content ["x-key"]'],
    ])("ends with a line that says why, without the value, for a Secret %s", async (_, value, words) => {
        send({ headersFrom: { "x-key": { secret: "s", key: "k" } } }, { SECRET_1: value });
        let log = "";
        child!.stderr!.on("data", (text) => (log += String(text)));
        const [code] = (await once(child!, "close")) as [number];
        expect([code, log]).toEqual([1, `${words}\n`]);
    });

    it("waits for no answer: a slow server gets as many requests, and the latency shows that", async () => {
        takesMs = 700;
        const action = send({ latency: { p95: { atMost: "500ms" } } });
        const { due, sent, busy, latencyMs, shares } = await lastOf(action, 3);
        expect([due, busy]).toEqual([60, 0]);
        // One connection would have sent four, had it waited.
        expect(sent).toBeGreaterThan(30);
        expect(latencyMs!.p50).toBeGreaterThan(690);
        const [{ met, unknown } = { met: NaN, unknown: NaN }] = shares;
        expect(met).toBe(0);
        // Besides those not sent, what a busy machine has delayed by 200 ms or more.
        expect(unknown).toBeGreaterThanOrEqual(due - sent);
        expect(unknown).toBeLessThan(due / 2);
    });

    it("says that it could not send, if all connections wait for answers", async () => {
        takesMs = 500;
        const { sent, busy, good } = await lastOf(send({ connections: 2 }), 3);
        expect(sent).toBeLessThan(20);
        expect(busy).toBeGreaterThan(20);
        expect(good).toBe(sent);
    });

    it("counts what was wrong with the answers, and those that do not come", async () => {
        status = 503;
        const wrong = await lastOf(send({}), 2);
        expect([wrong.good, wrong.bad]).toEqual([0, { "status 503": wrong.sent }]);
        child!.kill("SIGKILL");
        printed = "";
        takesMs = 5_000;
        const none = await lastOf(send({ timeoutMs: 300 }), 2);
        expect(none.bad).toEqual({ "no answer within 300 ms": none.sent - none.unseen });
        child!.kill("SIGKILL");
        printed = "";
        const refused = await lastOf(send({ url: "http://127.0.0.1:9" }), 2);
        expect(refused.bad).toEqual({ ECONNREFUSED: refused.sent });
    });

    it("blames nobody for what its own machine does not send, as for an unknown name", async () => {
        const { sent, bad, unsent } = await lastOf(send({ url: "http://shop.invalid" }), 2);
        expect([sent, bad]).toEqual([0, {}]);
        expect(Object.keys(unsent)).toEqual([expect.stringMatching(/^(?:ENOTFOUND|EAI_AGAIN)$/)]);
    });

    it("trusts over HTTPS only what its CA has signed", async () => {
        const { keyFile, certificateFile } = makeCertificate(scratch);
        const ca = readFileSync(certificateFile, "utf8");
        const secure = createSecureServer({ key: readFileSync(keyFile), cert: ca }, (_, answer) => answer.end());
        await new Promise<void>((done) => secure.listen(0, "127.0.0.1", done));
        const url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`;
        const trusted = await lastOf(send({ url, caFrom: { name: "trust" } }, { SECRET_1: ca }), 2);
        expect([trusted.good, trusted.bad]).toEqual([trusted.sent, {}]);
        child!.kill("SIGKILL");
        printed = "";
        const untrusted = await lastOf(send({ url }), 2);
        expect(untrusted.bad).toEqual({ DEPTH_ZERO_SELF_SIGNED_CERT: untrusted.sent });
        secure.close();
    });

    it("counts beside k6 what that reports, and sends nothing itself", async () => {
        const action: LoadAction = { kind: "load", k6: { image: "", args: ["run", "/a.js"] } };
        const made = { image: "", programs: { sender: program }, lastsSeconds: 60 };
        const [sender, k6] = (load.beside!.podSpec(action, made) as NonNullable<V1Pod["spec"]>).containers;
        const [node, ...options] = sender!.command!;
        child = spawn(node!, options, { env: { PATH: process.env.PATH }, stdio: "pipe" });
        child.stdout!.on("data", (text) => (printed += String(text)));
        const at = k6!
            .args!.at(-1)!
            .replace(/^influxdb=/, "")
            .replace(/\/k6$/, "/write?db=k6");
        const report = () => {
            const samples = ["iterations,scenario=a value=1", "dropped_iterations,scenario=a value=1"];
            const answer = ["http_req_duration,status=200 value=20", "http_req_failed,status=200 value=0"];
            const body = [...samples, ...answer].map((sample) => `${sample} ${Date.now()}000000\n`).join("");
            return fetch(at, { method: "POST", body }).then(
                ({ status }) => status,
                () => 0,
            );
        };
        const timer = setInterval(() => void report(), 1_000);
        const delivery = await lastOf(action, 3).finally(() => clearInterval(timer));
        expect(delivery).toMatchObject({ unreported: 0, bad: {} });
        expect(delivery.sent).toBeGreaterThan(0);
        expect(delivery.due).toBe(delivery.sent + delivery.busy);
        expect(received).toEqual([]);
    });

    it("goes on for some seconds after it is told to end, and not longer", async () => {
        const action = send({});
        await lastOf(action, 1);
        const ended = new Promise((done) => child!.once("exit", done));
        const told = Date.now();
        child!.kill("SIGTERM");
        expect(await ended).toBe(0);
        expect(Date.now() - told).toBeLessThan(lingersMs + 1_500);
        expect(received.at(-1)!.at - told).toBeGreaterThan(lingersMs - 1_000);
    });
});

import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect } from "../../../../chaos/cluster/client";
import { exec } from "../../../../chaos/cluster/exec";
import { ExecRefused, runWithin } from "../../../../chaos/cluster/run-within";
import { kubeconfigOf } from "../../../support/kubeconfig";

/** What the server does with a connection, once it is a WebSocket. */
let serve: (socket: Duplex) => unknown;
let asked: IncomingMessage;
/** The frames that came from the client. */
let received: Buffer;
let server: Server;

beforeEach(async () => {
    server = createServer().on("upgrade", (request: IncomingMessage, socket: Duplex) => {
        asked = request;
        received = Buffer.alloc(0);
        socket
            .on("data", (bytes: Buffer) => (received = Buffer.concat([received, bytes])))
            .on("error", () => undefined);
        serve(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
    server.closeAllConnections();
    server.close();
});

const accepted = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

/** A frame of a server. */
function frame(content: Buffer | string, { opcode = 2, isLast = true } = {}): Buffer {
    const bytes = Buffer.from(content);
    const head = [
        (isLast ? 0x80 : 0) | opcode,
        ...(bytes.length < 126
            ? [bytes.length]
            : bytes.length < 65_536
              ? [126, bytes.length >> 8, bytes.length & 255]
              : [127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (bytes.length >>> shift) & 255)]),
    ];
    return Buffer.concat([Uint8Array.from(head), bytes]);
}

/** Has the server accept the connection, and send these frames at once. */
const answer = (...frames: Buffer[]) => {
    serve = (socket) => socket.write(Buffer.concat([Buffer.from(accepted), ...frames]));
};
const printed = (text: string) => frame(`\x01${text}`);
const status = (of: object) => frame(`\x03${JSON.stringify(of)}`);
const success = status({ status: "Success" });
const failure = (code: number) => {
    const details = { causes: [{ reason: "ExitCode", message: String(code) }] };
    return status({ status: "Failure", reason: "NonZeroExitCode", details });
};

const run = (command = ["true"]) => {
    const { port } = server.address() as AddressInfo;
    const cluster = connect({ kubeconfig: kubeconfigOf("a", `http://127.0.0.1:${port}`) });
    return runWithin(cluster, { namespace: "demo", pod: "web-1", container: "web" }, command);
};

describe("a command in a container", () => {
    it("is asked for with its arguments as they are, by the protocols of kubectl", async () => {
        answer(success);
        await run(["sh", "-c", "echo 'a & b' ü"]);
        const { pathname, searchParams } = new URL(asked.url!, "http://api");
        expect(pathname).toBe("/api/v1/namespaces/demo/pods/web-1/exec");
        expect(searchParams.getAll("command")).toEqual(["sh", "-c", "echo 'a & b' ü"]);
        expect(Object.fromEntries(searchParams)).toMatchObject({ container: "web", stdout: "true", stderr: "true" });
        expect(asked.headers["sec-websocket-protocol"]).toBe("v5.channel.k8s.io, v4.channel.k8s.io");
    });

    it("gives what it prints, without its errors, and its exit code", async () => {
        answer(printed("one "), frame("\x02an error"), printed("two"), failure(3));
        expect(await run()).toEqual({ exitCode: 3, output: "one two" });
    });

    it("may print more than a frame of two bytes' length has, and only its beginning is kept", async () => {
        answer(printed("x".repeat(126)), printed("y".repeat(70_000)), printed("z"), success);
        const { exitCode, output } = await run();
        expect([exitCode, output.length]).toEqual([0, 70_126]);
    });

    it.each([1, 2, 3, 7])("is understood in pieces of %i bytes, and in messages of several frames", async (size) => {
        const all = [
            frame("\x01begin", { isLast: false }),
            frame("", { opcode: 9 }),
            frame("ning, ", { opcode: 0, isLast: false }),
            frame("end", { opcode: 0 }),
            printed("é".repeat(100)),
            failure(1),
        ];
        const bytes = Buffer.concat(all);
        serve = async (socket) => {
            socket.write(accepted);
            for (let at = 0; at < bytes.length; at += size) {
                socket.write(bytes.subarray(at, at + size));
                if (at % 40 === 0) await sleep(1);
            }
        };
        expect(await run()).toEqual({ exitCode: 1, output: `beginning, end${"é".repeat(100)}` });
    });

    it("has each ping answered, with what it says, in a masked frame", async () => {
        serve = async (socket) => {
            socket.write(Buffer.concat([Buffer.from(accepted), frame("who?", { opcode: 9 })]));
            while (received.length < 10) await sleep(5);
            socket.write(success);
        };
        await run();
        expect([...received.subarray(0, 2)]).toEqual([0x8a, 0x84]);
        const mask = received.subarray(2, 6);
        expect(received.subarray(6, 10).map((byte, index) => byte ^ mask[index]!)).toEqual(Buffer.from("who?"));
    });

    it("is sent texts as its input, in masked frames of channel 0, once it runs", async () => {
        serve = async (socket) => {
            socket.write(accepted);
            while (received.length < 6 + 4) await sleep(5);
            socket.write(success);
        };
        const { port } = server.address() as AddressInfo;
        const to = { server: `http://127.0.0.1:${port}`, options: {} };
        const nothing = () => undefined;
        const place = { namespace: "demo", pod: "web-1", container: "web" };
        await exec(place, ["cat"], to, nothing, AbortSignal.timeout(5_000), (send) => send("10\n"));
        expect(new URL(asked.url!, "http://api").searchParams.get("stdin")).toBe("true");
        expect([...received.subarray(0, 2)]).toEqual([0x82, 0x84]);
        const mask = received.subarray(2, 6);
        expect(received.subarray(6, 10).map((byte, index) => byte ^ mask[index]!)).toEqual(Buffer.from("\x0010\n"));
    });

    it("that the container does not have is told in the words of the runtime", async () => {
        const message = 'exec: "nope": executable file not found in $PATH';
        answer(status({ status: "Failure", message }));
        await expect(run()).rejects.toThrow("executable file not found");
    });

    it.each<[string, (socket: Duplex) => unknown]>([
        ["is reset", (socket) => socket.destroy()],
        ["ends", (socket) => socket.end()],
        ["is closed by a frame", (socket) => socket.write(frame("\x03\xe8", { opcode: 8 }))],
        ["ends in the middle of a frame", (socket) => socket.end(frame("\x01abc").subarray(0, 3))],
    ])("has no exit code if its connection %s", async (_, end) => {
        serve = (socket) => {
            socket.write(accepted);
            setTimeout(() => end(socket), 20);
        };
        await expect(run()).rejects.toThrow(/closed the connection before the command had ended|ECONNRESET/);
    });
});

describe("a command that the API server does not let begin", () => {
    const answering = (code: number, message: string) => (socket: Duplex) => {
        const body = JSON.stringify({ kind: "Status", message, code });
        socket.end(`HTTP/1.1 ${code} No\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    };

    it.each([
        [403, 'pods "web-1" is forbidden: no-exec', "no-exec"],
        [400, 'admission webhook "x" denied the request: no', "admission webhook"],
    ])("is refused with %i, in the words of whoever refuses it", async (code, message, words) => {
        serve = answering(code, message);
        const refused = run();
        await expect(refused).rejects.toBeInstanceOf(ExecRefused);
        await expect(refused).rejects.toThrow(words);
    });

    it.each([401, 404, 500])("is no refusal with %i", async (code) => {
        serve = answering(code, "something else");
        const failed = run();
        await expect(failed).rejects.not.toBeInstanceOf(ExecRefused);
        await expect(failed).rejects.toThrow("something else");
    });
});

/**
 * Runs a command in a container, by the protocol of `kubectl exec`: over a WebSocket, each message of which begins with
 * the number of its channel.
 *
 * @see https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/4006-transition-spdy-to-websockets
 */
import { randomBytes } from "node:crypto";
import type { Duplex } from "node:stream";
import { parseJson } from "../values/json";
import { answerOf, type Destination, upgrade } from "./request";
import { pathOf, resources } from "./resources";
import type { V1Status } from "../values/kubernetes-types";
import { objectOf } from "./verbs";

/** A container that runs. */
export interface Container {
    namespace: string;
    pod: string;
    container: string;
}

const channels = { input: 0, output: 1, errors: 2, status: 3 } as const;

/** The fourth says what a command has ended with; the fifth differs only in what is sent to a command. */
const protocols = "v5.channel.k8s.io, v4.channel.k8s.io";

/**
 * @param onOutput is given what the command prints, as it comes
 * @param signal ends the waiting
 * @param onOpen is given what sends the command texts of less than 125 bytes; its input ends with the connection.
 *   @default it has no input
 * @returns how the command has ended
 * @throws ApiError with how the API server refuses it
 * @throws Error if the connection ends before the command
 */
export async function exec(
    { namespace, pod: name, container }: Container,
    command: readonly string[],
    to: Destination,
    onOutput: (printed: Buffer, isError: boolean) => void,
    signal: AbortSignal,
    onOpen?: (send: (text: string) => void) => void,
): Promise<V1Status> {
    const query = new URLSearchParams({ container, stdout: "true", stderr: "true", ...(onOpen && { stdin: "true" }) });
    for (const argument of command) query.append("command", argument);
    const path = `${pathOf({ resource: resources.pod, namespace, name, part: "exec" })}?${query.toString()}`;
    const headers = {
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": randomBytes(16).toString("base64"),
        "sec-websocket-protocol": protocols,
    };
    const { response, socket, head } = await upgrade(path, headers, to, signal);
    if (socket === undefined) {
        const answer = await answerOf(response, signal);
        // Any other answer is none to this question, either.
        return objectOf({ ...answer, status: Math.max(answer.status, 400) });
    }
    return new Promise((resolve, reject) => {
        const stop = () => socket.destroy(new Error("no answer came in time"));
        const onMessage = (message: Buffer) => {
            const [channel] = message;
            if (channel === channels.output || channel === channels.errors)
                onOutput(message.subarray(1), channel === channels.errors);
            if (channel !== channels.status) return;
            resolve(parseJson(message.toString("utf8", 1)) ?? {});
            leave(socket);
        };
        const frames = new Frames(socket, onMessage);
        socket.on("data", (bytes: Buffer) => frames.push(bytes));
        socket.on("error", reject);
        socket.on("close", () => {
            signal.removeEventListener("abort", stop);
            reject(new Error("the API server closed the connection before the command had ended"));
        });
        signal.addEventListener("abort", stop);
        if (signal.aborted) stop();
        if (head!.length > 0) frames.push(head!);
        onOpen?.((text) => {
            const content = Buffer.concat([Uint8Array.of(channels.input), Buffer.from(text)]);
            if (socket.writable) socket.write(frame(opcodes.binary, content));
        });
    });
}

const opcodes = { binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Reads a WebSocket's frames, in pieces of any size: https://www.rfc-editor.org/rfc/rfc6455#section-5.2 */
class Frames {
    private unread: Buffer = Buffer.alloc(0);
    private message: Buffer[] = [];

    constructor(
        private readonly socket: Duplex,
        private readonly onMessage: (message: Buffer) => void,
    ) {}

    push(bytes: Buffer): void {
        this.unread = this.unread.length === 0 ? bytes : Buffer.concat([this.unread, bytes]);
        while (this.readOne());
    }

    /** @returns whether there was a whole one */
    private readOne(): boolean {
        if (this.unread.length < 2) return false;
        const [first = 0, second = 0] = this.unread;
        const short = second & 0x7f;
        const begin = { 126: 4, 127: 10 }[short] ?? 2;
        if (this.unread.length < begin) return false;
        const length =
            begin === 2 ? short : begin === 4 ? this.unread.readUInt16BE(2) : Number(this.unread.readBigUInt64BE(2));
        if (this.unread.length < begin + length) return false;
        const content = this.unread.subarray(begin, begin + length);
        this.unread = this.unread.subarray(begin + length);
        this.take(first & 0x0f, content, (first & 0x80) !== 0);
        return true;
    }

    private take(opcode: number, content: Buffer, isLast: boolean): void {
        if (opcode === opcodes.close) return leave(this.socket);
        if (opcode === opcodes.ping) return void this.socket.write(frame(opcodes.pong, content));
        if (opcode === opcodes.pong) return;
        this.message.push(content);
        if (!isLast) return;
        const message = Buffer.concat(this.message);
        this.message = [];
        this.onMessage(message);
    }
}

/** Says that nothing more is wanted, and closes the connection: who has ended it may leave that to us. */
const leave = (socket: Duplex): void => void socket.end(frame(opcodes.close), () => socket.destroy());

/** A frame of a client, masked as the protocol wants it. Its content is shorter than 126 bytes. */
function frame(opcode: number, content: Buffer = Buffer.alloc(0)): Buffer {
    const mask = randomBytes(4);
    const masked = content.map((byte, index) => byte ^ mask[index % 4]!);
    return Buffer.concat([Uint8Array.of(0x80 | opcode, 0x80 | content.length), mask, masked]);
}

import { connect } from "node:net";
import { expect } from "vitest";

export interface RawAnswer {
    status: number;
    /** By lower-case names. */
    headers: Record<string, string>;
    body: string;
}

/**
 * Sends raw bytes and reads until the server closes the connection.
 *
 * @throws if it does not close within the limit, or the answer is not HTTP
 */
export function sendRaw(url: string, bytes: string | Uint8Array, limitMs = 3_000): Promise<RawAnswer> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
        const chunks: Buffer[] = [];
        const socket = connect(Number(port), hostname, () => socket.write(bytes));
        const timer = setTimeout(() => socket.destroy(new Error(`no end of the answer within ${limitMs} ms`)), limitMs);
        socket.on("data", (chunk) => chunks.push(chunk));
        let failure: Error | undefined;
        // A server that refuses a long body closes while it is being sent; its answer counts.
        socket.on("error", (error) => (failure = error));
        socket.on("close", () => {
            clearTimeout(timer);
            const text = Buffer.concat(chunks).toString("utf8");
            const [head = "", ...rest] = text.split("\r\n\r\n");
            const [first = "", ...lines] = head.split("\r\n");
            const status = /^HTTP\/1\.1 (\d{3})/.exec(first)?.[1];
            if (status === undefined) {
                reject(failure ?? new Error(`this is not HTTP: ${JSON.stringify(text.slice(0, 200))}`));
                return;
            }
            const headers = Object.fromEntries(
                lines.map((line) => [
                    line.slice(0, line.indexOf(":")).toLowerCase(),
                    line.slice(line.indexOf(":") + 1).trim(),
                ]),
            );
            resolve({ status: Number(status), headers, body: rest.join("\r\n\r\n") });
        });
    });
}

/** Expects a problem document of this status. */
export function expectProblem({ status, headers, body }: RawAnswer, expected: number): void {
    expect(status).toBe(expected);
    expect(headers["content-type"]).toBe("application/problem+json");
    const text = expect.any(String);
    expect(JSON.parse(body)).toMatchObject({ status: expected, type: text, title: text, detail: text });
}

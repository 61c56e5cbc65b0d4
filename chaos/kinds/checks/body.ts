import type { IncomingMessage } from "node:http";
import { messageOf } from "../../cluster/client";
import { CodingError, decoded } from "./coding";

/**
 * How much of an answer's body is read. An answer may be good and never end: Server-Sent Events, a long download.
 *
 * - `nothing`: its head says all. A short rest is still taken, since a server may log a connection that breaks off.
 * - `beginning`: what comes soon, to quote it.
 * - `whole`: the answer is nothing without its end.
 */
export type Reading = "nothing" | "beginning" | "whole";

/** The most that is read of a whole body, in bytes, after it was decoded. */
const maxBodyBytes = 16 * 1_024 * 1_024;

const beginningBytes = 65_536;
const beginningMs = 500;

/** What is said of an answer whose whole body is wanted, and has not come by the end of the time. */
export const unended = (status: number, timeoutMs: number): string =>
    `status ${status}, but the body did not end within ${timeoutMs} ms`;

/** @throws Error if the whole body is wanted, and it breaks off or is too long */
export async function bodyOf(response: IncomingMessage, reading: Reading): Promise<string> {
    if (reading === "whole") return wholeOf(response);
    const beginning = beginningOf(response);
    return reading === "nothing" ? "" : beginning;
}

async function wholeOf(response: IncomingMessage): Promise<string> {
    const { text, problem } = await take(response, maxBodyBytes);
    if (problem === undefined) return text;
    throw new Error(`status ${response.statusCode}, but the body ${problem}`);
}

/** Never rejects. */
async function beginningOf(response: IncomingMessage): Promise<string> {
    const enough = setTimeout(() => response.destroy(), beginningMs);
    const { text } = await take(response, beginningBytes);
    clearTimeout(enough);
    return text;
}

/** @returns what has come, and why there is no more of it. Never rejects */
async function take(response: IncomingMessage, most: number): Promise<{ text: string; problem?: string }> {
    const parts: Buffer[] = [];
    let length = 0;
    const taken = () => Buffer.concat(parts).toString("utf8", 0, most);
    try {
        for await (const part of decoded(response, response.headers["content-encoding"])) {
            parts.push(part);
            length += part.length;
            if (length > most) return { text: taken(), problem: `is longer than ${most / 1_048_576} MiB` };
        }
        return { text: taken() };
    } catch (error) {
        const problem = messageOf(error);
        return { text: taken(), problem: error instanceof CodingError ? problem : `broke off: ${problem}` };
    }
}

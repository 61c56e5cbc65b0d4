import { createServer } from "node:net";

/**
 * Below the ports that a system gives to whoever names none (from 32768 on Linux): one of those, free a moment ago, may be
 * some connection's own by now. Each test process has a hundred to itself.
 */
let next = 10_000 + (process.pid % 200) * 100;

/** A TCP port of the loopback interface that is free, and that nobody takes by chance. */
export async function freePort(): Promise<number> {
    const port = next++;
    return (await isFree(port)) ? port : freePort();
}

function isFree(port: number): Promise<boolean> {
    return new Promise((resolve) => {
        const server = createServer().once("error", () => resolve(false));
        server.listen(port, () => server.close(() => resolve(true)));
    });
}

/** Asks again and again until the answer is yes; throws with what was waited for when the limit runs out. */
export async function eventually(
    what: string,
    isSo: () => Promise<boolean> | boolean,
    limitMs = 10_000,
): Promise<void> {
    const deadline = performance.now() + limitMs;
    while (!(await isSo())) {
        if (performance.now() > deadline) {
            throw new Error(`waited ${limitMs} ms in vain until ${what}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 25));
    }
}

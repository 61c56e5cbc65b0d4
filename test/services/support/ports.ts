import { createServer, type AddressInfo } from "node:net";

/** A TCP port of the loopback interface that was free a moment ago. */
export function freePort(): Promise<number> {
    return new Promise((resolve, reject) => {
        const server = createServer().once("error", reject);
        server.listen(0, "127.0.0.1", () => {
            const { port } = server.address() as AddressInfo;
            server.close(() => resolve(port));
        });
    });
}

/** Asks again and again until the answer is yes; throws with what was waited for when the limit runs out. */
export async function eventually(what: string, isSo: () => Promise<boolean> | boolean, limitMs = 10_000): Promise<void> {
    const deadline = performance.now() + limitMs;
    while (!(await isSo())) {
        if (performance.now() > deadline) {
            throw new Error(`waited ${limitMs} ms in vain until ${what}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 25));
    }
}

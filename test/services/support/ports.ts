import { createServer, type Server } from "node:net";

/** The first port of this process's block of 200 ports, which it listens on to claim the block. */
let claimed: Promise<number> | undefined;
let used = 0;

/** A free TCP port that no other process takes by chance. */
export async function freePort(): Promise<number> {
    const first = await (claimed ??= claimBlock());
    const port = first + ++used;
    const server = await listen(port);
    if (!server) return freePort();
    await new Promise((resolve) => server.close(resolve));
    return port;
}

/** Blocks are below the ephemeral ports (from 32768 on Linux), which any connection may take at any time. */
async function claimBlock(): Promise<number> {
    for (let first = 10_000; first < 32_000; first += 200) {
        const server = await listen(first);
        if (server) {
            server.unref();
            return first;
        }
    }
    throw new Error("all blocks of ports are in use");
}

function listen(port: number): Promise<Server | undefined> {
    return new Promise((resolve) => {
        const server = createServer().once("error", () => resolve(undefined));
        server.listen(port, () => resolve(server));
    });
}

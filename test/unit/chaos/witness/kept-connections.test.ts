import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, it, vi } from "vitest";
import { evaluatedAgain } from "../support/evaluated-again";

const [inodeOf, unansweredProbes] = vi.hoisted(() => [vi.fn(), vi.fn()]);
vi.mock("../../../../chaos/witness/keepalive", () => ({ inodeOf, unansweredProbes }));

it("a kept connection is what the kernel said last, while it lists no timer: a probe is being sent", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const endpoint = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    inodeOf.mockReturnValue("7");
    const { KeptConnections } = await evaluatedAgain(() => import("../../../../chaos/witness/kept-connections.js"));
    const kept = new KeptConnections();
    await kept.open("a", endpoint);
    const states: (string | undefined)[] = [];
    const openedAt = performance.now();
    for (const probes of [undefined, 0, undefined, 3, undefined]) {
        unansweredProbes.mockReturnValueOnce(new Map(probes === undefined ? [] : [["7", probes]]));
        vi.spyOn(performance, "now").mockReturnValue(openedAt + (states.length + 1) * 1_000);
        states.push(kept.states().a);
    }
    vi.restoreAllMocks();
    kept.drop("a");
    server.close();
    expect(states).toEqual([undefined, "answering", "answering", "silent", "silent"]);
});

import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, it, vi } from "vitest";
import { KeptConnections } from "../../../../chaos/witness/kept-connections";
import { inodeOf, unansweredProbes } from "../../../../chaos/witness/keepalive";

vi.mock("../../../../chaos/witness/keepalive", () => ({ inodeOf: vi.fn(), unansweredProbes: vi.fn() }));

it("a kept connection is what the kernel said last, while it lists no timer: a probe is being sent", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const endpoint = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    vi.mocked(inodeOf).mockReturnValue("7");
    const kept = new KeptConnections();
    await kept.open("a", endpoint);
    const states: (string | undefined)[] = [];
    const openedAt = performance.now();
    for (const probes of [undefined, 0, undefined, 3, undefined]) {
        vi.mocked(unansweredProbes).mockReturnValueOnce(new Map(probes === undefined ? [] : [["7", probes]]));
        vi.spyOn(performance, "now").mockReturnValue(openedAt + (states.length + 1) * 1_000);
        states.push(kept.states().a);
    }
    vi.restoreAllMocks();
    kept.drop("a");
    server.close();
    expect(states).toEqual([undefined, "answering", "answering", "silent", "silent"]);
});

import { EventEmitter } from "node:events";
import { beforeAll, beforeEach, expect, it, vi } from "vitest";
import { evaluatedAgain } from "../support/evaluated-again";

const connect = vi.hoisted(() => vi.fn());
vi.mock("node:net", async (original) => ({ ...(await original<object>()), connect }));

let { EarlyConnections, RareConnections } = {} as typeof import("../../../../chaos/witness/accepts.js");
beforeAll(async () => {
    ({ EarlyConnections, RareConnections } = await evaluatedAgain(
        () => import("../../../../chaos/witness/accepts.js"),
    ));
});

/** How long each try may take, in milliseconds. */
let tries: number[];
/** Whether the network lets packets through. */
let isOpen: boolean;
beforeEach(() => {
    tries = [];
    isOpen = false;
    connect.mockImplementation(({ timeout }: { timeout: number }) => {
        tries.push(timeout);
        const socket = Object.assign(new EventEmitter(), { destroy: () => undefined });
        setImmediate(() => socket.emit(isOpen ? "connect" : "timeout"));
        return socket;
    });
});

const endpoint = "192.0.2.1:80";

it("before the attacks, four tries are short: the kernel sends a dropped packet again after a second", async () => {
    const connections = new EarlyConnections();
    for (let looks = 0; looks < 7; looks++) await connections.accepts(endpoint);
    expect(tries).toEqual([200, 200, 400, 800, 1_000, 1_000, 1_000]);
});

it("once an endpoint has accepted a connection, nothing but a whole try shows that it is closed", async () => {
    const connections = new EarlyConnections();
    await connections.accepts(endpoint);
    isOpen = true;
    expect(await connections.accepts(endpoint)).toBe(true);
    isOpen = false;
    expect(await connections.accepts(endpoint)).toBe(false);
    expect(tries).toEqual([200, 200, 1_000]);
});

it("an endpoint that no attack blocks is tried rarely, but not before it has accepted a connection", async () => {
    const [rare, connections] = [new RareConnections(), new EarlyConnections()];
    expect(await rare.accepts(endpoint, connections)).toBe(false);
    isOpen = true;
    expect(await rare.accepts(endpoint, connections)).toBe(true);
    expect(await rare.accepts(endpoint, connections)).toBe(true);
    expect(tries).toEqual([200, 200]);
});

it("without early tries, an endpoint is tried for a second", async () => {
    await new RareConnections().accepts(endpoint);
    expect(tries).toEqual([1_000]);
});

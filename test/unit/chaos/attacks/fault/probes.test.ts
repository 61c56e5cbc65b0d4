import { expect, it } from "vitest";
import { stateOf } from "../../../../../chaos/attacks/fault/probes";
import type { Probed } from "../../../../../chaos/attacks/fault/proxy/probe";

const slow = { delayMs: 2_000 };
const failing = { delayMs: 0, abort: 503 };

it.each<[string, Probed, Parameters<typeof stateOf>[2], "open" | "closed" | undefined]>([
    ["one that past the proxy is reached", { saw: "bypassed" }, slow, "open"],
    ["one that answers at once, although it should be slow", { saw: "connected", afterMs: 5 }, slow, "open"],
    ["one that answers late", { saw: "connected", afterMs: 1_999 }, slow, "closed"],
    ["one that has not answered yet", { saw: "silent" }, slow, "closed"],
    ["one that answers with the status", { saw: "status", status: 503, afterMs: 1 }, failing, "closed"],
    ["one that answers with another", { saw: "status", status: 500, afterMs: 1 }, failing, "open"],
    ["one that is connected, although a status should answer", { saw: "connected", afterMs: 1 }, failing, "open"],
    ["one that is silent, although a status should answer", { saw: "silent" }, failing, undefined],
    ["one that is reset", { saw: "reset", afterMs: 1 }, { delayMs: 0, abort: "reset" }, "closed"],
    ["one that hangs", { saw: "silent" }, { delayMs: 0, abort: "hang" }, "closed"],
    ["one that is delayed by nothing", { saw: "connected", afterMs: 1 }, { delayMs: 0 }, "closed"],
    ["one that the proxy cannot reach", { saw: "unreachable", afterMs: 1 }, slow, undefined],
    ["one that cannot be reached", { saw: "refused" }, slow, undefined],
])("of the targets, %s", (_, probed, through, state) => {
    expect(stateOf(probed, true, through)).toBe(state);
});

it.each<[string, Probed, "open" | "closed" | undefined]>([
    ["answers at once", { saw: "connected", afterMs: 5 }, "open"],
    ["is held back", { saw: "silent" }, "closed"],
    ["is reset", { saw: "reset", afterMs: 1 }, "closed"],
    ["cannot be reached", { saw: "refused" }, undefined],
])("a pod that is no target and %s", (_, probed, state) => {
    expect(stateOf(probed, false, slow)).toBe(state);
});

import { afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { evaluatedAgain } from "../support/evaluated-again";
import { startClock, stopClock } from "../support/time";

const get = vi.hoisted(() => vi.fn());
vi.mock("../../../../chaos/witness/api", async (original) => ({ ...(await original<object>()), get }));

let { toldByLease, lookAtLease, takenAt } = {} as typeof import("../../../../chaos/witness/lease-look.js");
beforeAll(async () => {
    const module = await evaluatedAgain(() => import("../../../../chaos/witness/lease-look.js"));
    ({ toldByLease, lookAtLease, takenAt } = module);
});
beforeEach(stopClock);
afterEach(startClock);

/** What a look shows at a lease that was renewed a minute ago, and lasts for some time. */
function look(lastsMs: number, answer: object = {}, run = "run"): Promise<string> {
    const renewTime = new Date(Date.now() - 60_000).toISOString();
    const spec = { renewTime, leaseDurationSeconds: lastsMs / 1_000 };
    const body = JSON.stringify({ metadata: { annotations: { "chaos-experiments/run": run } }, spec });
    get.mockResolvedValue({ status: 200, body, sentAt: Date.now(), ...answer });
    return lookAtLease({ path: "/lease", run: "run" });
}

it("a lease is held until it ends, and lost when it is deleted or another run's", async () => {
    expect(await look(60_000)).toBe("held");
    expect(await look(59_000)).toBe("expired");
    expect(await look(60_000, {}, "another")).toBe("lost");
    expect(await look(60_000, { status: 404, body: '{"reason":"NotFound"}' })).toBe("lost");
});

it("a load balancer that answers 404 in the API server's place has not deleted the lease", () =>
    expect(look(60_000, { status: 404, body: "<html>404 page not found</html>" })).rejects.toThrow("404"));

it("a lease ends by the API server's clock, and not by the node's", async () => {
    expect(await look(3_600_000, { sentAt: Date.now() + 3_600_000 })).toBe("expired");
    expect(await look(30_000, { sentAt: Date.now() - 45_000 })).toBe("held");
});

it.each([
    ['{"x.blackhole":{},"x.blackhole-2":{"ports":[80]}}', { "x.blackhole": {}, "x.blackhole-2": { ports: [80] } }],
    ["no JSON", {}],
    ["null", {}],
    ['{"x.blackhole":null}', {}],
    ['{"x.blackhole":{"ports":80}}', {}],
])("connections are kept as the lease says, and none if somebody has written something else: %s", async (kept, to) => {
    const noted = { "chaos-experiments/run": "run", "chaos-experiments/kept": kept };
    get.mockResolvedValue({ status: 200, body: JSON.stringify({ metadata: { annotations: noted } }), sentAt: 0 });
    expect((await toldByLease({ path: "/lease", run: "run" })).kept).toEqual(to);
});

it.each([
    ["a run that has not begun", { "chaos-experiments/run": "run", "chaos-experiments/not-begun": "run" }, true],
    ["a run that has begun", { "chaos-experiments/run": "run" }, false],
    ["another run", { "chaos-experiments/run": "b", "chaos-experiments/not-begun": "b" }, false],
])("the lease says that the attacks have not begun only by the run's own mark: %s", async (_, noted, hasNotBegun) => {
    get.mockResolvedValue({ status: 200, body: JSON.stringify({ metadata: { annotations: noted } }), sentAt: 0 });
    expect(await toldByLease({ path: "/lease", run: "run" })).toMatchObject({ hasNotBegun });
});

it("a run has its lease since it took it first: a step that is tried again renews it later", async () => {
    const spec = { acquireTime: "2026-11-21T10:00:00.000000Z", renewTime: "2026-11-21T10:09:00.000000Z" };
    const body = JSON.stringify({ metadata: { annotations: { "chaos-experiments/run": "run" } }, spec });
    const taken = async (aheadMs: number) => {
        get.mockResolvedValue({ status: 200, body, sentAt: Date.now() + aheadMs });
        return takenAt({ path: "/lease", run: "run" });
    };
    expect(await taken(0)).toBe(Date.parse("2026-11-21T10:00:00Z"));
    // By the API server's clock, it was an hour ago.
    expect(await taken(3_600_000)).toBe(Date.parse("2026-11-21T09:00:00Z"));
});

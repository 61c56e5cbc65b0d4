import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { failInJob } from "../../../../../../chaos/kinds/attacks/fail/fail-in-job";
import type { Victim } from "../../../../../../chaos/kinds/attacks/fail/victim";
import type { JobContext, JobPart } from "../../../../../../chaos/kinds/attacks/job-part";
import { startClock, stopClock } from "../../../support/time";

const victim: Victim = { pod: "web-1", uid: "u1", container: "web", image: "shop/web:1", restarts: 2, endpoints: [] };
const name = "the container web-1/web";
const running = { running: {} };
const waiting = { waiting: { reason: "InvalidImageName" } };

let request: object | undefined;
let pods: { uid: string; status: object }[] | Error;
let ending: AbortController;
let begin: () => JobPart;
let part: JobPart | undefined;
beforeEach(() => {
    stopClock();
    request = { data: { tried: JSON.stringify([victim]) } };
    ending = new AbortController();
    is(running);
    const api = {
        get: async () => request,
        async *list(_: object, { labelSelector }: { labelSelector: string }) {
            expect(labelSelector).toBe("chaos-experiments/target=x.fail");
            if (pods instanceof Error) throw pods;
            for (const { uid, status } of pods)
                yield { metadata: { uid }, status: { containerStatuses: [{ name: "side", restartCount: 0 }, status] } };
        },
    };
    const context = {
        namespace: "demo",
        label: "x.fail",
        object: {},
        api,
        ending: ending.signal,
        log: () => undefined,
    };
    part = undefined;
    begin = () => failInJob(undefined, context as unknown as JobContext);
});
afterEach(() => {
    ending.abort();
    startClock();
});

function is(state: object, restartCount = 2, uid = "u1"): void {
    pods = [{ uid, status: { name: "web", restartCount, state } }];
}
const after = async (seconds: number) => {
    part ??= begin();
    await vi.advanceTimersByTimeAsync(seconds * 1_000);
    return part.last;
};
const nothing = { open: [], closed: [] };

it("nothing is known until the attack's object says which containers must not run", async () => {
    request = undefined;
    expect(await after(2)).toEqual(nothing);
});

it("a container is running until it is seen stopped, and again once it runs", async () => {
    expect(await after(1)).toEqual({ open: [name], closed: [] });
    is(waiting);
    expect(await after(1)).toEqual({ open: [], closed: [name] });
    is(running);
    expect(await after(1)).toEqual({ open: [name], closed: [] });
});

it("a container that was started and ended between two looks did run", async () => {
    is(waiting);
    await after(1);
    is(waiting, 3);
    expect(await after(1)).toEqual({ open: [name], closed: [] });
});

it.each<[string, () => void]>([
    ["pod is gone, or has lost its label", () => (pods = [])],
    ["pod is another one", () => is(waiting, 2, "u2")],
    ["API server does not answer", () => (pods = new Error("no answer"))],
])("nothing is known if the %s", async (_, change) => {
    is(waiting);
    await after(1);
    change();
    expect(await after(1)).toEqual(nothing);
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunAttack } from "../../../../chaos/definition/plan";
import { whyChanged, whyNotGone, whyNotKilled, whyPeersChanged } from "../../../../chaos/proof/targets-there";
import { containersOf } from "../../../../chaos/targets/containers";
import { FakeRun } from "../support/fake-run";

let run: FakeRun;
beforeEach(() => {
    run = new FakeRun();
});
afterEach(() => run.close());

const uid = (pod: string) => run.cluster.get("Pod", pod).metadata.uid!;

describe("a target", () => {
    const status = () => run.cluster.get("Pod", "hot-deals-1").status.containerStatuses[0];
    it.each<[string, () => void, string | undefined]>([
        ["is the one of before", () => undefined, undefined],
        ["is gone", () => run.cluster.remove("Pod", "hot-deals-1"), "hot-deals-1 was gone before the run had ended"],
        ["is replaced", () => run.addPod("hot-deals-1", "10.0.0.1"), "hot-deals-1 was gone before the run had ended"],
        [
            "is about to go",
            () => (run.cluster.get("Pod", "hot-deals-1").metadata.deletionTimestamp = "2026-11-21T10:00:00Z"),
            "hot-deals-1 was gone before the run had ended",
        ],
        [
            "was restarted",
            () => (status().containerID = "another"),
            "hot-deals-1/hot-deals was restarted during the run",
        ],
        [
            "was killed for memory",
            () =>
                Object.assign(status(), {
                    containerID: "another",
                    lastState: { terminated: { reason: "OOMKilled" } },
                }),
            "hot-deals-1/hot-deals was restarted during the run, killed for memory",
        ],
        [
            "has ended, and waits to be started again with the id that it had",
            () => (status().state = { waiting: { reason: "CrashLoopBackOff" } }),
            "hot-deals-1/hot-deals ended during the run",
        ],
        [
            "has ended, as a Job's does",
            () => (status().state = { terminated: { exitCode: 0 } }),
            "hot-deals-1/hot-deals ended during the run",
        ],
    ])("%s", async (_, change, message) => {
        const targets = ["hot-deals-2", "hot-deals-1"].map((pod) => run.target(pod));
        change();
        expect(await whyChanged(run.cluster.api, targets)).toEqual(
            message && { code: "target-changed", message: `the target ${message}` },
        );
    });
});

it("a target may be killed for memory if the attack wants that, and restarted for nothing else", async () => {
    const status = run.cluster.get("Pod", "hot-deals-1").status.containerStatuses[0];
    Object.assign(status, { containerID: "another", lastState: { terminated: { reason: "OOMKilled" } } });
    const targets = [{ ...run.target("hot-deals-1"), containerId: "before" }];
    expect(await whyChanged(run.cluster.api, targets, { outOfMemory: true })).toBeUndefined();
    status.lastState.terminated.reason = "Error";
    expect((await whyChanged(run.cluster.api, targets, { outOfMemory: true }))?.code).toBe("target-changed");
});

it("a kill for memory before the run is no kill of it", async () => {
    const status = run.cluster.get("Pod", "hot-deals-1").status.containerStatuses[0];
    const targets = [run.target("hot-deals-1")];
    Object.assign(status, {
        state: { terminated: { reason: "Error", containerID: targets[0]!.containerId } },
        lastState: { terminated: { reason: "OOMKilled", containerID: "before" } },
    });
    expect((await whyChanged(run.cluster.api, targets, { outOfMemory: true }))?.code).toBe("target-changed");
});

it("a target that waited to be started again before the run is the same while it waits", async () => {
    const pod = run.cluster.get("Pod", "hot-deals-1");
    pod.status.containerStatuses[0].state = { waiting: { reason: "CrashLoopBackOff" } };
    const [target] = containersOf(pod, undefined, "c");
    expect(await whyChanged(run.cluster.api, [target!])).toBeUndefined();
});

it("a target that the attack stops need not run, and its pod must stay", async () => {
    const targets = [run.target("hot-deals-1")];
    const pod = run.cluster.get("Pod", "hot-deals-1");
    pod.status.containerStatuses[0] = { name: "hot-deals", state: { terminated: { exitCode: 143 } } };
    expect(await whyChanged(run.cluster.api, targets, { stopped: true })).toBeUndefined();
    pod.metadata.deletionTimestamp = "2026-11-21T10:00:00Z";
    expect((await whyChanged(run.cluster.api, targets, { stopped: true }))?.code).toBe("target-changed");
});

describe("of two targets of a kill", () => {
    const problem = "the disruption budget hot-deals needs 1 healthy pods and has 1 currently";
    const [alive, both] = ["should have been deleted, but still runs", ["hot-deals-1", "hot-deals-2"]];
    it.each<[string, { gone?: string[]; refused?: string[]; killed?: string[] }, string | undefined]>([
        ["both must be gone", { gone: both }, undefined],
        ["none may still run", { gone: ["hot-deals-2"] }, `hot-deals-1 ${alive}`],
        [
            "one need not be gone whose eviction was refused",
            { gone: ["hot-deals-1"], refused: ["hot-deals-2"] },
            undefined,
        ],
        ["the other must be, then", { refused: ["hot-deals-2"] }, `hot-deals-1 ${alive}`],
        [
            "not both may be refused, and the reason has the budget's words",
            { refused: both },
            `the API server did not evict hot-deals-1: “${problem}”`,
        ],
        ["one may be evicted that was refused at first", { refused: both, killed: ["hot-deals-2"] }, undefined],
    ])("%s", async (_, { gone = [], refused = [], killed = [] }, message) => {
        const targets = both.map((pod) => run.target(pod));
        const of = (pod: string) => ({ pod, uid: uid(pod), label: "l" });
        const log = {
            refused: refused.map((pod) => ({ at: 0, refused: { ...of(pod), problem } })),
            kills: killed.map((pod) => ({ at: 0, killed: of(pod) })),
        };
        for (const pod of gone) run.cluster.remove("Pod", pod);
        const why = await whyNotGone(run.cluster.api, "demo", targets, log);
        expect(why?.message).toBe(message);
        if (why) expect(why.code).toBe(message!.includes(alive) ? "attack-not-proven" : "eviction-refused");
    });

    it.each<[string, string[], string | undefined]>([
        ["the Job must have deleted one", [], "the targets are gone, but the deadline Job did not delete them"],
        ["what it has deleted may not still run", both, `hot-deals-2 ${alive}`],
        ["what it has deleted is gone", ["hot-deals-1"], undefined],
    ])("%s", async (_, killed, message) => {
        const kills = killed.map((pod) => ({ at: 0, killed: { pod, uid: uid(pod), label: "l" } }));
        run.cluster.remove("Pod", "hot-deals-1");
        expect((await whyNotKilled(run.cluster.api, "demo", kills))?.message).toBe(message);
    });
});

const peers = "k8s.deployment=hot-deals,k8s.namespace=demo";

/** @param uids of the peers that the attack was made for */
const why = (uids: string[], targets: string[] = []) => {
    const those = (some: string[]) => some.map((uid) => ({ uid }));
    const attack = {
        attack: { kind: "blackhole", direction: "egress", peers },
        target: "k8s.deployment=front,k8s.namespace=demo",
        chosen: { peers: those(uids), targets: those(targets), matching: 1 },
    };
    return whyPeersChanged(run.cluster.api, run.plan, attack as unknown as RunAttack);
};
describe("the peers of an attack", () => {
    it("are those of before as long as none comes", async () => {
        expect(await why([uid("hot-deals-1"), uid("hot-deals-2")])).toBeUndefined();
    });

    it("are fewer once one is gone, and traffic with the others is still denied", async () => {
        expect(await why([uid("hot-deals-1"), uid("hot-deals-2"), "gone"])).toBeUndefined();
    });

    it("are not those of before once one came, as in a rollout: traffic with that is not denied", async () => {
        expect(await why([uid("hot-deals-1")])).toEqual({
            code: "peers-changed",
            message: `hot-deals-2 joined the peers ${peers} during the run, and the attack was made for those before`,
        });
    });

    it("are none once all are gone", async () => {
        for (const pod of ["hot-deals-1", "hot-deals-2"]) run.cluster.remove("Pod", pod);
        expect(await why(["gone"])).toEqual({
            code: "peers-changed",
            message: `none of the peers ${peers} was left before the run had ended`,
        });
    });

    it("are not the targets, which may match, too", async () => {
        expect(await why([uid("hot-deals-1")], [uid("hot-deals-2")])).toBeUndefined();
    });
});

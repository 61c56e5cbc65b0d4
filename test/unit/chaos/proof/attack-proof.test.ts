/** What is asked of whom, and when. What the answers show is in `judge.test.ts`. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Proof } from "../../../../chaos/kinds/attacks/attack-kind";
import { pause } from "../../../../chaos/values/async";
import { enforcementTimeoutMs } from "../../../../chaos/policies/enforcement";
import { AttackProof, type AttackProofArgs } from "../../../../chaos/proof/attack-proof";
import type { Proven } from "../../../../chaos/proof/outcome";
import { reason } from "../../../../chaos/values/reasons";
import { refuse } from "../support/fake-cluster";
import { FakeRun, job, jobAddress } from "../support/fake-run";
import { settled } from "../support/time";

const label = "hot-deals-blackhole.blackhole";
const windowMs = 24_000;

let run: FakeRun;
beforeEach(async () => {
    run = new FakeRun();
    // The Job looks before a pod is labeled.
    await vi.advanceTimersByTimeAsync(250);
    await run.label();
});
afterEach(() => run.close());

const inward: Proof = { inward: {} };
const outward: Proof = { outward: { port: 8080 } };
const lookup: Proof = { lookup: { name: "x" } };

const proofOf = (proof: Proof, more: Partial<AttackProofArgs> = {}) =>
    new AttackProof({
        cluster: run.cluster.api,
        run: "run",
        namespace: "demo",
        job,
        targetLabel: label,
        proof,
        chosen: { targets: [run.target()] },
        slowestProbeMs: 30,
        ...more,
    });

/** Proves an attack, and has something happen in the middle of its window. @returns why it did not hold */
async function heldThrough(proof: AttackProof, change: () => void = () => undefined): Promise<string | undefined> {
    run.attack();
    const proven = await settled(proof.attackProven());
    if ("code" in proven) throw new Error(proven.message);
    run.after(windowMs / 2, change);
    return (await settled(proof.whyNotHeld(proven, Date.now() + windowMs)))?.message;
}

describe("connections into the targets", () => {
    it("prove the attack if they worked before it and fail under it", async () => {
        const proof = proofOf(inward);
        expect(await settled(proof.baseline(0))).toMatchObject({ leftOut: [] });
        expect(await heldThrough(proof)).toBeUndefined();
    });

    it("prove it since the tries began that failed, as far as these were seen here", async () => {
        run.tryMs = 1_000;
        run.enforced = false;
        run.attack();
        run.after(2_000, () => (run.enforced = true));
        const begun = Date.now();
        const { attackedAt } = (await settled(proofOf(inward, { isSinceTries: true }).attackProven())) as Proven;
        expect(attackedAt - begun).toBeGreaterThanOrEqual(2_000);
        expect(attackedAt - begun).toBeLessThanOrEqual(2_400);
        expect(Date.now() - attackedAt).toBeGreaterThanOrEqual(1_000);
        const again = Date.now();
        const seenLate = (await settled(proofOf(inward, { isSinceTries: true }).attackProven())) as Proven;
        expect(seenLate.attackedAt).toBeGreaterThanOrEqual(again);
    });

    it("prove it no earlier than the last failure from within", async () => {
        run.tryMs = 1_000;
        run.attack();
        let works = true;
        run.probe = () => works;
        run.after(3_000, () => (works = false));
        const begun = Date.now();
        const both: Proof = { inward: {}, outward: { port: 8080 } };
        const { attackedAt } = (await settled(proofOf(both, { isSinceTries: true }).attackProven())) as Proven;
        expect(attackedAt - begun).toBeGreaterThanOrEqual(3_000);
    });

    it("are lost by a silence of the witness of over 10 s once that has ended: until then, they may show", async () => {
        const proof = proofOf(inward);
        run.attack();
        const proven = (await settled(proof.attackProven())) as Proven;
        const codeAfter = async (ms: number) => {
            await settled(pause(ms));
            return (await settled(proof.whyLost(proven)))?.code;
        };
        run.reporting = false;
        expect(await codeAfter(11_000)).toBeUndefined();
        run.reporting = true;
        expect(await codeAfter(1_000)).toBe("witness-silent");
    });

    it("prove the attack on a network that waits up to 35 s for a pod's label, and then programs it", async () => {
        run.enforced = false;
        run.attack();
        run.after(38_000, () => (run.enforced = true));
        expect(await settled(proofOf(inward).attackProven())).toHaveProperty("attackedAt");
    });

    it("are seen before it although the kubelet says only 10 s later that the Job's container runs", async () => {
        run.notesClosed = false;
        const { status } = run.cluster.get("Pod", job);
        const { containerStatuses } = status;
        status.containerStatuses = [{ name: "deadline", state: { waiting: { reason: "ContainerCreating" } } }];
        run.after(10_000, () => (run.cluster.get("Pod", job).status.containerStatuses = containerStatuses));
        expect(await settled(proofOf(inward).baseline(2_000))).toMatchObject({ leftOut: [] });
    });

    it("are seen before it by what the Job notes, before the kubelet says that its container runs", async () => {
        const { status } = run.cluster.get("Pod", job);
        status.containerStatuses = [{ name: "deadline", state: { waiting: { reason: "ContainerCreating" } } }];
        const begun = performance.now();
        expect(await settled(proofOf(inward).baseline(2_000))).toMatchObject({ leftOut: [] });
        expect(performance.now() - begun).toBeLessThan(1_000);
    });

    it("are seen before it although at first the log has only a look at no target", async () => {
        run.notesClosed = false;
        const { logs } = run.cluster;
        const log = logs.get(job)!;
        run.reporting = false;
        logs.set(job, log.slice(0, log.indexOf("\n") + 1));
        run.after(10_000, () => logs.set(job, log));
        expect(await settled(proofOf(inward).baseline(2_000))).toMatchObject({ leftOut: [] });
    });

    it("are judged by the last look before it: a target may have gone since the first", async () => {
        const pod = run.cluster.get("Pod", "hot-deals-1");
        pod.spec.containers[0].ports.push({ containerPort: 9090 });
        run.listensAt = (port) => port === 8080;
        await vi.advanceTimersByTimeAsync(1_000);
        run.after(1_000, () => (pod.metadata.labels = {}));
        const targets = [{ ...run.target(), ports: [8080, 9090] }];
        expect(await settled(proofOf(inward, { chosen: { targets } }).baseline(3_000))).toMatchObject({
            code: "baseline-failed",
        });
    });

    it.each<[string, () => void, RegExp]>([
        [
            "a connection works again",
            () => run.report({ at: Date.now(), open: ["10.0.0.1:8080"], closed: [] }),
            /became reachable again during the run, at 10\.0\.0\.1:8080/,
        ],
        ["the Job stops reporting", () => void (run.reporting = false), /reported nothing for 1[12].* s of the run/],
        [
            "a target is deleted, and its label with it",
            () => run.cluster.remove("Pod", "hot-deals-1"),
            /^the target hot-deals-1 was gone before the run had ended$/,
        ],
    ])("do not hold if %s", async (_, change, reason) =>
        expect(await heldThrough(proofOf(inward), change)).toMatch(reason),
    );

    it("do not hold if the kind itself says at the end that it is over, though no report shows it yet", async () => {
        const explain = async () => reason("service-changed", "somebody changed it");
        expect(await heldThrough(proofOf(inward, { explain }))).toBe("somebody changed it");
    });
});

describe("another NetworkPolicy that allows what the attack denies", () => {
    const allow = (spec: object) => {
        run.enforced = false;
        run.cluster.add("NetworkPolicy", "allow-web", { spec: { podSelector: {}, ...spec } });
    };
    const allows = (what: string) => ({
        code: "policy-allows",
        message: expect.stringContaining(`the NetworkPolicy allow-web allows ${what} the target hot-deals-1`),
    });

    it("is the reason if connections into the targets still work, and not the cluster's network", async () => {
        allow({ ingress: [{}] });
        run.attack();
        expect(await settled(proofOf(inward).attackProven())).toEqual(allows("ingress to"));
    });

    it("is the reason if the targets become reachable again during the run", async () =>
        expect(await heldThrough(proofOf(inward), () => allow({ ingress: [{}] }))).toEqual(
            allows("ingress to").message,
        ));

    it.each<[string, Proof, number]>([
        ["connections out of the targets", outward, 8080],
        ["a DNS lookup", lookup, 53],
        ["connections to peers", { peers: { ways: ["ingress", "egress"] } }, 8080],
    ])("is the reason if it allows %s", async (_, proof, port) => {
        run.probe = () => true;
        allow({ egress: [{ ports: [{ port }] }] });
        const chosen = { targets: [run.target()], peers: [run.target("hot-deals-2")] };
        expect(await settled(proofOf(proof, { chosen }).attackProven())).toEqual(allows("egress from"));
    });

    it("is not named to an account that may not list policies", async () => {
        allow({ ingress: [{}] });
        run.attack();
        run.cluster.intercept = (call) => {
            if (call === "list NetworkPolicy") refuse(403, "networkpolicies is forbidden");
        };
        expect(await settled(proofOf(inward).attackProven())).toMatchObject({ code: "attack-not-proven" });
    });
});

describe("a clock that is set back", () => {
    const setBack = () => vi.setSystemTime(Date.now() - 3_600_000);

    it("does not prolong the wait for the attack", async () => {
        const begun = performance.now();
        run.enforced = false;
        run.after(2_000, setBack);
        run.attack();
        expect(await settled(proofOf(inward).attackProven())).toHaveProperty("code");
        expect(performance.now() - begun).toBeLessThan(enforcementTimeoutMs + 5_000);
    });

    it("does not prolong the window", async () => {
        const begun = performance.now();
        await heldThrough(proofOf(inward), setBack);
        expect(performance.now() - begun).toBeLessThan(windowMs + 5_000);
    });
});

describe("what is tried from within", () => {
    it("proves the attack if it worked before it and fails under it: connections go to the Job's pod", async () => {
        const asked: string[] = [];
        run.probe = (pod, args) => {
            asked.push([pod, ...args].join(" "));
            return run.cluster.names("NetworkPolicy").length === 0;
        };
        const proof = proofOf(outward);
        expect(await settled(proof.baseline(0))).toMatchObject({ leftOut: [] });
        expect(await heldThrough(proof)).toBeUndefined();
        expect(new Set(asked)).toEqual(new Set([`hot-deals-1 ${jobAddress} 8080`]));
    });

    it("proves nothing if nothing can be run in a target", async () => {
        run.probe = () => "no shell";
        expect(await settled(proofOf(outward).baseline(0))).toMatchObject({ code: "probe-failed" });
    });

    it("is not waited for under attack if the Job's pod is gone", async () => {
        run.reporting = false;
        run.cluster.remove("Pod", job);
        await expect(settled(proofOf(outward).attackProven())).rejects.toThrow(
            /has no running pod\. See its events: kubectl/,
        );
    });

    it("proves the attack from the moment that it fails, and not before", async () => {
        const cutAt = Date.now() + 8_000;
        run.probe = () => Date.now() < cutAt;
        const { attackedAt } = (await settled(proofOf(lookup).attackProven())) as Proven;
        expect(attackedAt).toBeGreaterThanOrEqual(cutAt);
        expect(attackedAt).toBeLessThan(cutAt + 500);
    });

    it("may take longer if that is outside of the cluster, at the other end of the world", async () => {
        const limits: string[] = [];
        run.cluster.api.exec = async (_, command) => {
            limits.push(command[4]!);
            return new Promise((ended) => setTimeout(() => ended({ status: "Success" }), 20));
        };
        const hosts = [{ host: "203.0.113.7", port: 443, addresses: ["203.0.113.7"] }];
        const proof = { addresses: { hosts, blocks: [] } };
        await settled(proofOf(proof, { chosen: { targets: [run.target()], hosts } }).baseline(0));
        expect(limits).toEqual(["2"]);
    });

    it("is tried at least every 5 s during the window, and how often is known", async () => {
        const at: number[] = [];
        run.probe = () => {
            at.push(performance.now());
            return false;
        };
        const [begun, proof] = [performance.now(), proofOf(lookup)];
        await heldThrough(proof);
        expect(Math.max(...at.slice(1).map((moment, index) => moment - at[index]!))).toBeLessThanOrEqual(5_000);
        expect(proof.longestGapMs).toBeLessThanOrEqual(5_000);
        expect(performance.now() - begun).toBeLessThan(windowMs + 1_000);
    });

    it.each<[string, boolean | string, number, RegExp]>([
        ["works for a time in the middle", true, 5_000, /in the targets still works, 1[2-6](\.\d)? s after the attack/],
        [
            "could not be tried for a time",
            "denied",
            11_000,
            /not be tried for 1\d(\.\d)? s, from \S+ s after the attack/,
        ],
        ["works at the end", true, windowMs, /in the targets still works/],
    ])("does not hold if it %s, which is named", async (_, answer, forMs, reason) => {
        run.probe = () => false;
        const change = () => {
            run.probe = () => answer;
            run.after(forMs, () => (run.probe = () => false));
        };
        expect(await heldThrough(proofOf(lookup), change)).toMatch(reason);
    });

    it.each<[string, number, RegExp | undefined]>([
        ["is missed, if all was seen before", 0, undefined],
        ["counts after a time without any", 9_000, /could not be tried for 1\d(\.\d)? s.*: no answer within 2000 ms$/],
    ])("the last look of an aborted run that a busy node answers too late %s", async (_, silentMs, reason) => {
        run.probe = () => false;
        const proof = proofOf(lookup);
        run.attack();
        const proven = (await settled(proof.attackProven())) as Proven;
        const abort = new AbortController();
        run.after(5_000, () => (run.cluster.api.exec = () => new Promise(() => undefined)));
        run.after(5_000 + silentMs, () => abort.abort());
        const begun = performance.now();
        const why = await settled(proof.whyNotHeld(proven, Date.now() + windowMs, abort.signal));
        if (reason) expect(why?.message).toMatch(reason);
        else expect(why).toBeUndefined();
        expect(performance.now() - begun).toBeLessThan(5_000 + silentMs + 2_500);
    });

    it("does not hold if a target loses its label, by which the attack applies to it", async () => {
        const unlabel = () => void (run.cluster.get("Pod", "hot-deals-1").metadata.labels = {});
        expect(await heldThrough(proofOf(lookup), unlabel)).toMatch(/hot-deals-1, .* lost its label/);
    });
});

describe("what must go on working", () => {
    const still: Proof = { ...lookup, stillWorks: { outward: { port: 8080 } } };
    /** What connections do; DNS lookups fail under attack. */
    const connections = (works: () => boolean | string) => {
        run.probe = (_, { length }) => (length === 1 ? run.cluster.names("NetworkPolicy").length === 0 : works());
    };
    const overreach =
        /blocks more than it should: .* to another pod at port 8080 worked before it, and fails under it$/;

    it("is tried before the attack, when it is proven and at the end", async () => {
        const asked: number[] = [];
        connections(() => asked.push(performance.now()) > 0);
        const proof = proofOf(still);
        expect(await settled(proof.baseline(0))).toMatchObject({ leftOut: [] });
        const begun = performance.now();
        expect(await heldThrough(proof)).toBeUndefined();
        const [, atOnce, atEnd, ...more] = asked.map((at) => at - begun);
        expect(atOnce).toBeLessThan(1_000);
        expect(atEnd).toBeGreaterThan(windowMs - 2_000);
        expect(more).toEqual([]);
    });

    it("does not, from the beginning or at the end: the attack is not what it says", async () => {
        connections(() => false);
        expect(await heldThrough(proofOf(still), () => connections(() => true))).toMatch(overreach);
        connections(() => true);
        expect(await heldThrough(proofOf(still), () => connections(() => false))).toMatch(overreach);
    });

    it("did not even before the attack: it is left out", async () => {
        connections(() => false);
        const leftOut = ["from hot-deals-1/hot-deals to another pod at port 8080"];
        expect(await settled(proofOf(still).baseline(0))).toMatchObject({ leftOut });
        expect(await heldThrough(proofOf(still, { chosen: { targets: [run.target()], leftOut } }))).toBeUndefined();
    });

    it.each<[string, boolean | string, boolean]>([
        ["counts if its own container reaches it", true, true],
        ["does not if that does not either", false, false],
        ["does not if nothing can be run there", "no shell", false],
    ])("at a port of a target, to which the witness finds no connection, %s", async (_, answer, counts) => {
        connections(() => answer);
        const found = await heldThrough(proofOf({ ...lookup, stillWorks: { inward: { except: [] } } }));
        expect(found === undefined).toBe(!counts);
    });

    it("delays the end of an aborted run by two seconds at most", async () => {
        run.attack();
        connections(() => true);
        const proof = proofOf({ ...lookup, stillWorks: { inward: { except: [] } } });
        const proven = (await settled(proof.attackProven())) as Proven;
        const abort = new AbortController();
        run.after(5_000, () => {
            const before = { ...run.cluster.api };
            const isLookup = (command: readonly string[]) => command.length === 6;
            run.cluster.api.exec = (...asked) =>
                isLookup(asked[1]) ? before.exec(...asked) : new Promise(() => undefined);
            abort.abort();
        });
        const begun = performance.now();
        expect(await settled(proof.whyNotHeld(proven, Date.now() + windowMs, abort.signal))).toBeUndefined();
        expect(performance.now() - begun).toBeLessThan(8_000);
    });
});

describe("deleted targets", () => {
    const of = (pod: string, by = label) => ({ pod, uid: run.target(pod).uid, label: by });
    const kill = (pod: string) => {
        const killed = of(pod);
        run.cluster.remove("Pod", pod);
        run.report({ at: Date.now(), killed });
    };
    const missed = (by: string) => run.report({ at: Date.now(), missed: { label: by, forMs: 5_100, problem: "no" } });

    it("prove the attack if the Job deleted them, also if their eviction was refused at first", async () => {
        const proof = proofOf({ deleted: true });
        run.report({ at: Date.now(), refused: { ...of("hot-deals-1"), problem: "a budget" } });
        run.after(3_000, () => kill("hot-deals-1"));
        expect(await heldThrough(proof, () => kill("hot-deals-2"))).toBeUndefined();
        expect(await proof.kills()).toMatchObject({ kills: [{ pod: "hot-deals-1" }, { pod: "hot-deals-2" }] });
    });

    it.each<[string, () => void, RegExp | undefined]>([
        ["a later kill was due and could not be made", () => missed(label), /^the kill that was due 12.* could not be/],
        ["another attack's could not", () => missed("another"), undefined],
        [
            "a pod still runs that the Job reports as deleted",
            () => run.report({ at: Date.now(), killed: of("hot-deals-2") }),
            /^hot-deals-2 should have been deleted, but still runs$/,
        ],
    ])("are judged at the end, too: %s", async (_, change, reason) => {
        const proof = proofOf({ deleted: true });
        kill("hot-deals-1");
        expect((await heldThrough(proof, change)) ?? "").toMatch(reason ?? /^$/);
    });

    it("prove nothing if something else deleted them", async () => {
        const proof = proofOf({ deleted: true });
        run.cluster.remove("Pod", "hot-deals-1");
        expect(await heldThrough(proof)).toBe("the targets are gone, but the deadline Job did not delete them");
    });
});

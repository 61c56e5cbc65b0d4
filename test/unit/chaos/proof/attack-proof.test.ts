import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Proof } from "../../../../chaos/kinds/attacks/attack-kind";
import { pause } from "../../../../chaos/values/async";
import { AttackProof } from "../../../../chaos/proof/attack-proof";
import { enforcementTimeoutMs } from "../../../../chaos/policies/enforcement";
import type { Proven } from "../../../../chaos/proof/outcome";
import { reason } from "../../../../chaos/values/reasons";
import { Witness } from "../../../../chaos/proof/witness";
import type { ResolvedHost } from "../../../../chaos/targets/choose";
import type { Target } from "../../../../chaos/targets/containers";
import { refuse } from "../support/fake-cluster";
import { FakeRun, job, jobAddress } from "../support/fake-run";
import { settled } from "../support/time";

const label = "hot-deals-blackhole.blackhole";
const windowMs = 24_000;

let run: FakeRun;
beforeEach(async () => {
    run = new FakeRun();
    await run.label();
});
afterEach(() => run.close());

function proofOf(
    proof: Proof,
    peers?: Target[],
    { targets = [run.target()], hosts }: { targets?: Target[]; hosts?: ResolvedHost[] } = {},
): AttackProof {
    const cluster = run.cluster.api;
    const { inward, deleted } = proof;
    const witness = new Witness({ cluster, namespace: "demo", job, targetLabel: label, targets, inward, deleted });
    return new AttackProof({ run: "run", cluster, proof, chosen: { targets, peers, hosts }, witness, baselineMs: 30 });
}

/** Proves an attack, and has something happen in the middle of its window. @returns why it did not hold */
async function heldThrough(proof: AttackProof, change: () => void = () => undefined): Promise<string | undefined> {
    const proven = await settled(proof.attackProven());
    if ("inconclusive" in proven) throw new Error(proven.inconclusive.message);
    run.after(windowMs / 2, change);
    return (await settled(proof.whyNotHeld(proven, Date.now() + windowMs)))?.message;
}

const noReport = {
    inconclusive: {
        code: "witness-silent",
        message: "the Job that watches the targets has no report of before the attack",
    },
};

describe("connections into the targets", () => {
    const inward: Proof = { inward: {} };

    it("prove the attack if they worked before it and fail under it", async () => {
        const proof = proofOf(inward);
        expect(await settled(proof.baseline(0))).toHaveProperty("tookMs");
        run.attack();
        expect(await heldThrough(proof)).toBeUndefined();
    });

    it("are lost by a silence of the witness of over 10 s once that has ended: until then, they may show", async () => {
        const proof = proofOf(inward);
        await settled(proof.baseline(0));
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

    it("prove nothing if the cluster does not enforce NetworkPolicies", async () => {
        run.enforced = false;
        run.attack();
        expect(await settled(proofOf(inward).attackProven())).toEqual({
            inconclusive: {
                code: "attack-not-proven",
                message: expect.stringMatching(/ 10\.0\.0\.1:8080 still accepted fresh connections$/),
            },
        });
    });

    it("prove the attack on a network that waits up to 35 s for a pod's label, and then programs it", async () => {
        run.enforced = false;
        run.attack();
        run.after(38_000, () => (run.enforced = true));
        expect(await settled(proofOf(inward).attackProven())).toHaveProperty("attackedAt");
    });

    it("prove nothing if they do not even work before it", async () => {
        run.listensAt = () => false;
        await vi.advanceTimersByTimeAsync(1_000);
        expect(await settled(proofOf(inward).baseline(0))).toEqual({
            inconclusive: {
                code: "baseline-failed",
                message: "nothing answered at 10.0.0.1:8080 of hot-deals-1 before the attack",
            },
        });
    });

    it("disprove the attack at a port that was left out before it, and is open under it", async () => {
        const targets = [{ ...run.target(), ports: [8080, 9090] }];
        const cluster = run.cluster.api;
        const leftOut = ["to 10.0.0.1:9090"];
        const args = { cluster, namespace: "demo", job, targetLabel: label, targets, leftOut, ...inward };
        run.attack();
        const proof = new AttackProof({
            run: "run",
            cluster,
            proof: inward,
            chosen: { targets },
            witness: new Witness(args),
        });
        const open = () => run.report({ at: Date.now(), open: ["10.0.0.1:9090"], closed: ["10.0.0.1:8080"] });
        expect(await heldThrough(proof, open)).toMatch(/became reachable again during the run, at 10\.0\.0\.1:9090/);
    });

    describe("to a target with addresses of both families", () => {
        const [ipv4, ipv6] = ["10.0.0.7", "fd00::7"];
        const ofBoth = () => proofOf(inward, undefined, { targets: [run.target("both")] });
        beforeEach(async () => {
            run.addPod("both", ipv4, ipv6);
            await run.label("both");
        });

        it.each([
            [ipv4, "10.0.0.7:8080"],
            [ipv6, "[fd00::7]:8080"],
        ])("prove nothing if %s can still be reached", async (address, endpoint) => {
            run.reachable = [address];
            run.attack();
            expect(await settled(ofBoth().attackProven())).toEqual({
                inconclusive: {
                    code: "attack-not-proven",
                    message: `the NetworkPolicy exists, but ${endpoint} still accepted fresh connections`,
                },
            });
        });

        it("do not hold if one can be reached for a time", async () => {
            run.attack();
            const change = () => {
                run.reachable = [ipv6];
                run.after(1_000, () => (run.reachable = []));
            };
            expect(await heldThrough(ofBoth(), change)).toMatch(
                /became reachable again during the run, at \[fd00::7\]/,
            );
        });

        it("prove the attack by one of them if nothing listened at the other", async () => {
            run.listensAt = (_, address) => address !== ipv6;
            await vi.advanceTimersByTimeAsync(1_000);
            expect(await settled(ofBoth().baseline(0))).toMatchObject({ leftOut: ["to [fd00::7]:8080"] });
        });
    });

    it("are seen before it although the kubelet says only 10 s later that the Job's container runs", async () => {
        const { status } = run.cluster.get("Pod", job);
        const { containerStatuses } = status;
        status.containerStatuses = [{ name: "deadline", state: { waiting: { reason: "ContainerCreating" } } }];
        run.after(10_000, () => (run.cluster.get("Pod", job).status.containerStatuses = containerStatuses));
        expect(await settled(proofOf(inward).baseline(2_000))).toMatchObject({ leftOut: [] });
    });

    it("are seen before it although only an earlier pod of the Job, without targets, has a log at first", async () => {
        run.reporting = false;
        run.restartJob();
        run.report({ at: Date.now(), open: [], closed: [] });
        run.after(10_000, () => (run.reporting = true));
        expect(await settled(proofOf(inward).baseline(2_000))).toMatchObject({ leftOut: [] });
    });

    it("are judged by the last look before it: a target may have gone since the first", async () => {
        const pod = run.cluster.get("Pod", "hot-deals-1");
        pod.spec.containers[0].ports.push({ containerPort: 9090 });
        run.listensAt = (port) => port === 8080;
        await vi.advanceTimersByTimeAsync(1_000);
        run.after(1_000, () => (pod.metadata.labels = {}));
        const targets = [{ ...run.target(), ports: [8080, 9090] }];
        expect(await settled(proofOf(inward, undefined, { targets }).baseline(3_000))).toMatchObject({
            inconclusive: { code: "baseline-failed" },
        });
    });

    it("prove nothing if the Job has lost what it saw before it", async () => {
        run.restartJob();
        run.attack();
        expect(await settled(proofOf(inward).attackProven())).toEqual(noReport);
    });

    it("prove nothing if the Job reports nothing", async () => {
        run.cluster.logs.clear();
        run.reporting = false;
        expect(await settled(proofOf(inward).attackProven())).toEqual(noReport);
    });

    it("prove nothing if the kind itself says at the end that it is over, though no report shows it yet", async () => {
        const targets = [run.target()];
        const cluster = run.cluster.api;
        const witness = new Witness({ cluster, namespace: "demo", job, targetLabel: label, targets, ...inward });
        const explain = async () => reason("service-changed", "somebody changed it");
        run.attack();
        const proof = new AttackProof({ run: "run", cluster, proof: inward, chosen: { targets }, witness, explain });
        expect(await heldThrough(proof)).toBe("somebody changed it");
    });

    it.each<[string, () => void, RegExp]>([
        [
            "a connection works again",
            () => run.report({ at: Date.now(), open: ["10.0.0.1:8080"], closed: [] }),
            /became reachable again during the run, at 10\.0\.0\.1:8080/,
        ],
        [
            "a target loses its label",
            () => void (run.cluster.get("Pod", "hot-deals-1").metadata.labels = {}),
            /the target hot-deals-1, at 10\.0\.0\.1:8080, lost its label/,
        ],
        [
            "a target is deleted, and its label with it",
            () => run.cluster.remove("Pod", "hot-deals-1"),
            /^the target hot-deals-1 was gone before the run had ended$/,
        ],
        ["the Job stops reporting", () => void (run.reporting = false), /reported nothing for 1[12].* s of the run/],
        [
            "a target is restarted",
            () => void (run.cluster.get("Pod", "hot-deals-1").status.containerStatuses[0].containerID = "another"),
            /the target hot-deals-1\/hot-deals was restarted during the run/,
        ],
        [
            "a target ends, as a Job's does",
            () => {
                const [status] = run.cluster.get("Pod", "hot-deals-1").status.containerStatuses;
                status.state = { terminated: { exitCode: 0 } };
            },
            /the target hot-deals-1\/hot-deals ended during the run/,
        ],
        [
            "a target is replaced",
            () => {
                run.cluster.remove("Pod", "hot-deals-1");
                run.addPod("hot-deals-1", "10.0.0.1");
                run.cluster.get("Pod", "hot-deals-1").metadata.labels = { "chaos-experiments/target": label };
            },
            /the target hot-deals-1 was gone/,
        ],
    ])("do not hold if %s", async (_, change, reason) => {
        run.attack();
        expect(await heldThrough(proofOf(inward), change)).toMatch(reason);
    });
});

describe("another NetworkPolicy that allows what the attack denies", () => {
    const allow = (spec: object) => {
        run.enforced = false;
        run.cluster.add("NetworkPolicy", "allow-web", { spec: { podSelector: {}, ...spec } });
    };
    const allowsIngress =
        /^the NetworkPolicy allow-web allows ingress to the target hot-deals-1, and Net.* add up.*describe network/;

    it("is the reason if connections into the targets still work, and not the cluster's network", async () => {
        allow({ ingress: [{}] });
        run.attack();
        const proven = await settled(proofOf({ inward: {} }).attackProven());
        expect(proven).toEqual({
            inconclusive: { code: "policy-allows", message: expect.stringMatching(allowsIngress) },
        });
    });

    it("is the reason if the targets become reachable again during the run", async () => {
        run.attack();
        expect(await heldThrough(proofOf({ inward: {} }), () => allow({ ingress: [{}] }))).toMatch(allowsIngress);
    });

    it.each<[string, Proof, number]>([
        ["connections out of the targets", { outward: { port: 8080 } }, 8080],
        ["a DNS lookup", { lookup: { name: "x" } }, 53],
        ["connections to peers", { peers: { ways: ["ingress", "egress"] } }, 8080],
    ])("is the reason if it allows %s", async (_, proof, port) => {
        run.probe = () => true;
        allow({ egress: [{ ports: [{ port }] }] });
        expect(await settled(proofOf(proof, [run.target("hot-deals-2")]).attackProven())).toEqual({
            inconclusive: {
                code: "policy-allows",
                message: expect.stringContaining("allow-web allows egress from the target hot-deals-1"),
            },
        });
    });

    it("is not named if it allows only others: then what still works is the reason", async () => {
        allow({ ingress: [{ from: [{ podSelector: { matchLabels: { app: "gateway" } } }] }] });
        run.attack();
        expect(await settled(proofOf({ inward: {} }).attackProven())).toEqual({
            inconclusive: { code: "attack-not-proven", message: expect.stringContaining("still accepted") },
        });
    });

    it("is not named to an account that may not list policies", async () => {
        allow({ ingress: [{}] });
        run.attack();
        run.cluster.intercept = (call) => {
            if (call === "list NetworkPolicy") refuse(403, "networkpolicies is forbidden");
        };
        expect(await settled(proofOf({ inward: {} }).attackProven())).toEqual({
            inconclusive: { code: "attack-not-proven", message: expect.stringContaining("still accepted") },
        });
    });
});

describe("a clock that is set back", () => {
    const hour = 3_600_000;
    const setBack = () => vi.setSystemTime(Date.now() - hour);

    it("does not prolong the wait for the attack", async () => {
        const begun = performance.now();
        run.enforced = false;
        run.attack();
        run.after(2_000, setBack);
        expect(await settled(proofOf({ inward: {} }).attackProven())).toHaveProperty("inconclusive");
        expect(performance.now() - begun).toBeLessThan(enforcementTimeoutMs + 5_000);
    });

    it("does not prolong the window", async () => {
        const begun = performance.now();
        run.attack();
        await heldThrough(proofOf({ inward: {} }), setBack);
        expect(performance.now() - begun).toBeLessThan(windowMs + 5_000);
    });
});

describe("connections out of the targets", () => {
    const outward: Proof = { outward: { port: 8080 } };

    it("prove the attack if they worked before it and fail under it", async () => {
        const asked: (readonly string[])[] = [];
        run.probe = (pod, args) => {
            asked.push([pod, ...args]);
            return run.cluster.names("NetworkPolicy").length === 0;
        };
        expect(await settled(proofOf(outward).baseline(0))).toHaveProperty("tookMs");
        run.attack();
        expect(await heldThrough(proofOf(outward))).toBeUndefined();
        expect(asked).toContainEqual(["hot-deals-1", jobAddress, "8080"]);
    });

    it("prove nothing if they do not even work before the attack", async () => {
        run.probe = () => false;
        expect(await settled(proofOf(outward).baseline(0))).toEqual({
            inconclusive: {
                code: "baseline-failed",
                message: "a fresh connection out of the targets did not work before the attack (hot-deals-1)",
            },
        });
    });

    it("prove nothing if nothing can be run in a target", async () => {
        run.probe = () => "no shell";
        expect(await settled(proofOf(outward).baseline(0))).toEqual({
            inconclusive: {
                code: "probe-failed",
                message: expect.stringMatching(/could not be tried: nothing can be run in hot-deals-1\/hot-deals: no/),
            },
        });
    });

    it("are not waited for under attack if the Job's pod is gone", async () => {
        run.reporting = false;
        run.cluster.remove("Pod", job);
        await expect(settled(proofOf(outward).attackProven())).rejects.toThrow(
            /has no running pod\. See its events: kubectl/,
        );
    });

    describe("to a witness with addresses of both families", () => {
        beforeEach(async () => {
            run.jobAddresses = [jobAddress, "fd00::99"];
            await vi.advanceTimersByTimeAsync(500);
        });

        it("prove nothing if one family still works, which is named", async () => {
            run.attack();
            run.probe = (_, [address]) => address === "fd00::99";
            expect(await settled(proofOf(outward).attackProven())).toMatchObject({
                inconclusive: {
                    code: "attack-not-proven",
                    message: expect.stringMatching(/ hot-deals-1\/hot-deals to another pod over IPv6 .* still works$/),
                },
            });
        });

        it("prove the attack by one family if the other did not work before it", async () => {
            run.probe = (_, [address]) => address === jobAddress;
            const leftOut = ["from hot-deals-1/hot-deals to another pod over IPv6 at port 8080"];
            expect(await settled(proofOf(outward).baseline(0))).toMatchObject({ leftOut });
        });

        it("prove nothing if neither works before the attack", async () => {
            run.probe = () => false;
            expect(await settled(proofOf(outward).baseline(0))).toMatchObject({
                inconclusive: { code: "baseline-failed" },
            });
        });
    });

    it("prove nothing if they still work under it", async () => {
        run.attack();
        run.probe = () => true;
        expect(await settled(proofOf(outward).attackProven())).toEqual({
            inconclusive: {
                code: "attack-not-proven",
                message: expect.stringMatching(/ hot-deals-1\/hot-deals to another pod at port 8080 still works$/),
            },
        });
    });

    it("do not hold if they work again at the end", async () => {
        run.attack();
        const change = () => void (run.probe = () => true);
        expect(await heldThrough(proofOf(outward), change)).toContain("to another pod at port 8080 still works");
    });
});

describe("a DNS lookup", () => {
    it("proves the attack if it fails in the targets", async () => {
        let asked: readonly string[] = [];
        run.probe = (_, args) => {
            asked = args;
            return false;
        };
        expect(await heldThrough(proofOf({ lookup: { name: "kubernetes.default.svc" } }))).toBeUndefined();
        expect(asked).toEqual(["kubernetes.default.svc"]);
    });

    it("proves the attack from the moment that it fails, and not before", async () => {
        const cutAt = Date.now() + 8_000;
        run.probe = () => Date.now() < cutAt;
        const proven = await settled(proofOf({ lookup: { name: "x" } }).attackProven());
        expect(proven).toHaveProperty("attackedAt");
        expect((proven as Proven).attackedAt).toBeGreaterThanOrEqual(cutAt);
        expect((proven as Proven).attackedAt).toBeLessThan(cutAt + 500);
        expect(await settled(proofOf({ lookup: { name: "x" } }).whyNotHeld(proven as Proven, Date.now() + 5_000))).toBe(
            undefined,
        );
    });

    it("proves nothing if it still works", async () => {
        run.probe = () => true;
        expect(await settled(proofOf({ lookup: { name: "x" } }).attackProven())).toEqual({
            inconclusive: {
                code: "attack-not-proven",
                message: expect.stringContaining("a DNS lookup in the targets still works"),
            },
        });
    });
});

describe("connections between targets and peers", () => {
    const ways = ["ingress", "egress"] as const;

    it("are tried from both sides", async () => {
        const asked = new Set<string>();
        run.probe = (pod, args) => {
            asked.add([pod, ...args].join(" "));
            return false;
        };
        expect(await heldThrough(proofOf({ peers: { ways } }, [run.target("hot-deals-2")]))).toBeUndefined();
        expect([...asked].sort()).toEqual(["hot-deals-1 10.0.0.2 8080", "hot-deals-2 10.0.0.1 8080"]);
    });

    describe("with addresses of both families", () => {
        const ofBoth = () => proofOf({ peers: { ways } }, [run.target("peer")], { targets: [run.target("both")] });
        beforeEach(async () => {
            run.addPod("both", "10.0.0.7", "fd00::7");
            run.addPod("peer", "10.0.0.8", "fd00::8");
            await run.label("both");
        });

        it("prove nothing if one family still works", async () => {
            run.attack();
            run.probe = (_, [address]) => address === "fd00::8";
            expect(await settled(ofBoth().attackProven())).toMatchObject({
                inconclusive: { code: "attack-not-proven" },
            });
        });

        it("leave out a family that did not work before the attack, be it IPv4 or IPv6", async () => {
            run.probe = (_, [address]) => address!.includes(":");
            expect(await settled(ofBoth().baseline(0))).toMatchObject({
                leftOut: [
                    "from peer/hot-deals to 10.0.0.7 at port 8080",
                    "from both/hot-deals to 10.0.0.8 at port 8080",
                ],
            });
        });
    });

    it("prove nothing if one direction still works", async () => {
        run.probe = (pod) => pod === "hot-deals-2";
        expect(await settled(proofOf({ peers: { ways } }, [run.target("hot-deals-2")]).attackProven())).toEqual({
            inconclusive: {
                code: "attack-not-proven",
                message: expect.stringContaining("a fresh connection between the targets and their peers still works"),
            },
        });
    });

    it("prove nothing if neither side declares such a port", async () => {
        const proof = proofOf({ peers: { ways, ports: [5432] } }, [run.target("hot-deals-2")]);
        expect(await settled(proof.baseline(0))).toEqual({
            inconclusive: {
                code: "no-port",
                message: expect.stringContaining(
                    "neither the targets nor their peers have a known TCP port that the attack blocks",
                ),
            },
        });
    });
});

describe("connections to addresses", () => {
    const host = { host: "api.example.com", port: 443 };
    const hosts = [{ ...host, addresses: ["203.0.113.7", "203.0.113.8"] }];
    const addresses: Proof["addresses"] = { hosts: [host], blocks: [{ cidr: "203.0.113.0/24" }] };
    const of = () => proofOf({ addresses }, undefined, { hosts });
    /** Which endpoints answer: those before an attack, and none under it. */
    const answering =
        (...endpoints: string[]) =>
        (_: string, args: readonly string[]) =>
            !run.cluster.names("NetworkPolicy").includes("run-blackhole") && endpoints.includes(args.join(":"));

    beforeEach(() => {
        run.resolves = () => ["203.0.113.8", "203.0.113.7"];
        run.probe = answering("203.0.113.7:443", "203.0.113.8:443");
    });

    it("prove the attack if they worked before it and fail under it", async () => {
        const proof = of();
        expect(await settled(proof.baseline(0))).toMatchObject({ leftOut: [] });
        run.attack();
        expect(await heldThrough(proof)).toBeUndefined();
    });

    it("are left out one by one, as long as each host and block has one", async () => {
        run.probe = answering("203.0.113.8:443");
        expect(await settled(of().baseline(0))).toMatchObject({
            leftOut: ["from hot-deals-1/hot-deals to api.example.com (203.0.113.7) at port 443"],
        });
    });

    it("prove nothing if a host or a block does not answer before the attack", async () => {
        run.probe = answering();
        const failed = (message: RegExp) => ({
            inconclusive: { code: "baseline-failed", message: expect.stringMatching(message) },
        });
        expect(await settled(of().baseline(0))).toEqual(
            failed(/^nothing answered hot-deals-1 at api\.example\.com \(203\.0\.113\.7, \S+\), port 443, before/),
        );
        run.probe = answering("203.0.113.8:443");
        const blocks = [{ cidr: "203.0.113.0/29" }];
        const proof = proofOf({ addresses: { hosts: [host], blocks } }, undefined, { hosts });
        expect(await settled(proof.baseline(0))).toEqual(failed(/at 203\.0\.113\.0\/29 before the attack$/));
    });

    it("prove nothing of a block if none answers at a port that the attack denies in it", async () => {
        const blocks = [443, 80].map((port) => ({ cidr: "203.0.113.0/24", port }));
        expect(
            await settled(proofOf({ addresses: { hosts: [host], blocks } }, undefined, { hosts }).baseline(0)),
        ).toMatchObject({
            inconclusive: { message: "nothing answered hot-deals-1 at 203.0.113.0/24 at port 80 before the attack" },
        });
    });

    it("disprove the attack if one works, which is named", async () => {
        run.attack();
        run.probe = (_, args) => args.join(":") === "203.0.113.8:443";
        expect(await settled(of().attackProven())).toMatchObject({
            inconclusive: {
                code: "attack-not-proven",
                message:
                    "the NetworkPolicy exists, but a fresh connection from hot-deals-1/hot-deals to api.example.com " +
                    "(203.0.113.8) at port 443 still works",
            },
        });
    });

    it("show nothing if the name has another address for a time, which is named", async () => {
        run.attack();
        const move = () => {
            run.resolves = () => ["203.0.113.7", "203.0.113.9"];
            run.after(5_000, () => (run.resolves = () => ["203.0.113.7"]));
        };
        expect(await heldThrough(of(), move)).toMatch(
            new RegExp(
                "^api\\.example\\.com is 203\\.0\\.113\\.9 in hot-deals-1, which it was not before the attack " +
                    "\\(203\\.0\\.113\\.7, 203\\.0\\.113\\.8\\), 1[2-6](\\.\\d)? s after the attack was proven$",
            ),
        );
    });

    it("show nothing if that is so for a time and many connections are tried meanwhile", async () => {
        const many = Array.from({ length: 60 }, (_, index) => `192.0.2.${index}`);
        const literals = many.map((one) => ({ host: one, port: 443, addresses: [one] }));
        run.attack();
        const move = () => {
            run.resolves = () => ["203.0.113.9"];
            run.after(5_000, () => (run.resolves = () => ["203.0.113.7"]));
        };
        const proof = proofOf({ addresses }, undefined, { hosts: [...literals, ...hosts] });
        expect(await heldThrough(proof, move)).toMatch(/^api\.example\.com is 203\.0\.113\.9 in hot-deals-1, /);
    });

    it("hold if the name has fewer addresses, or is not found for a moment", async () => {
        run.attack();
        const lose = () => {
            run.resolves = () => [];
            run.after(4_000, () => (run.resolves = () => ["203.0.113.7"]));
        };
        expect(await heldThrough(of(), lose)).toBeUndefined();
    });

    it("hold if a lookup at the end fails once", async () => {
        const proof = of();
        run.attack();
        const proven = (await settled(proof.attackProven())) as Proven;
        let looks = 0;
        run.resolves = () => (looks++ % 2 === 0 ? [] : ["203.0.113.7"]);
        expect(await settled(proof.whyNotHeld(proven, Date.now() + 1_000))).toBeUndefined();
        expect(looks).toBeGreaterThan(1);
    });

    it("show nothing if the name is not found for a time", async () => {
        run.attack();
        expect(await heldThrough(of(), () => (run.resolves = () => []))).toMatch(
            /could not be tried.*: hot-deals-1 finds no address for the name api\.example\.com$/,
        );
    });

    it("may take longer than others, to the other end of the world", async () => {
        const limits = new Set<number>();
        run.cluster.api.exec = async (_, command) => {
            if (command.length === 7) limits.add(Number(command[4]));
            return new Promise((ended) => setTimeout(() => ended({ status: "Success" }), 20));
        };
        const literal = [{ host: "203.0.113.7", port: 443, addresses: ["203.0.113.7"] }];
        const blocks = [{ cidr: "203.0.113.0/24" }];
        await settled(proofOf({ addresses: { hosts: literal, blocks } }, undefined, { hosts: literal }).baseline(0));
        expect([...limits]).toEqual([2]);
    });

    it("look up no address", async () => {
        const literal = [{ host: "203.0.113.7", port: 443, addresses: ["203.0.113.7"] }];
        run.resolves = () => ["192.0.2.1"];
        run.attack();
        expect(
            await heldThrough(proofOf({ addresses: { hosts: literal, blocks: [] } }, undefined, { hosts: literal })),
        ).toBe(undefined);
    });
});

describe("what is tried from within the targets or their peers, during the window:", () => {
    const way: Proof["peers"] = { ways: ["egress"] };
    const kinds: [string, Proof, string][] = [
        [
            "connections out of the targets",
            { outward: { port: 8080 } },
            "a fresh connection from hot-deals-1/hot-deals to another pod at port 8080",
        ],
        ["a DNS lookup", { lookup: { name: "x" } }, "a DNS lookup in the targets"],
        ["connections to peers", { peers: way }, "a fresh connection between the targets and their peers"],
    ];
    const of = (proof: Proof) => proofOf(proof, [run.target("hot-deals-2")]);

    it.each(kinds)("%s do not hold if they work for a time in the middle, which is named", async (_, proof, what) => {
        run.attack();
        const lift = () => {
            run.probe = () => true;
            run.after(5_000, () => (run.probe = () => false));
        };
        expect(await heldThrough(of(proof), lift)).toMatch(
            new RegExp(
                `^the NetworkPolicy exists, but ${what} still works, 1[2-6](\\.\\d)? s after the attack was proven$`,
            ),
        );
    });

    it("at least every 5 s", async () => {
        const at: number[] = [];
        run.attack();
        run.probe = () => {
            at.push(performance.now());
            return false;
        };
        const begun = performance.now();
        await heldThrough(of({ lookup: { name: "x" } }));
        const gaps = at.slice(1).map((moment, index) => moment - at[index]!);
        expect(Math.max(...gaps)).toBeLessThanOrEqual(5_000);
        expect(performance.now() - begun).toBeLessThan(windowMs + 1_000);
    });

    it("they do not hold if nothing could be tried for a time, which is named", async () => {
        run.attack();
        const refuse = () => {
            run.probe = () => "denied";
            run.after(11_000, () => (run.probe = () => false));
        };
        expect(await heldThrough(of({ lookup: { name: "x" } }), refuse)).toMatch(
            /^a DNS lookup in .* not be tried for 1\d(\.\d)? s, from \S+ s after the attack was proven: nothing/,
        );
    });

    it("they do not hold if a target loses its label, by which the attack applies to it", async () => {
        run.attack();
        const unlabel = () => void (run.cluster.get("Pod", "hot-deals-1").metadata.labels = {});
        expect(await heldThrough(of({ lookup: { name: "x" } }), unlabel)).toMatch(/hot-deals-1, .* lost its label/);
    });

    it("a try that fails once does not matter", async () => {
        run.attack();
        const refuse = () => {
            run.probe = () => "busy";
            run.after(3_000, () => (run.probe = () => false));
        };
        expect(await heldThrough(of({ lookup: { name: "x" } }), refuse)).toBeUndefined();
    });

    describe("a few at a time on each node, in turns:", () => {
        const asked: { pod: string; at: number }[] = [];
        const nodeOf = (pod: string) => (Number(pod.slice(1)) < 10 ? "a" : "b");
        /** Tries some pods during the window. @returns the longest time between two tries of one, as it is noted */
        async function tried(pods: number): Promise<number | undefined> {
            const targets = Array.from({ length: pods }, (_, index) => ({
                ...run.target(),
                uid: `u${index}`,
                pod: `p${index}`,
                node: nodeOf(`p${index}`),
            }));
            const cluster = run.cluster.api;
            const witness = new Witness({ cluster, namespace: "demo", job, targetLabel: label, targets: [] });
            const proof = new AttackProof({
                run: "run",
                cluster,
                proof: { lookup: { name: "x" } },
                chosen: { targets },
                witness,
            });
            run.attack();
            const proven = (await settled(proof.attackProven())) as Proven;
            asked.length = 0;
            run.probe = (pod) => {
                asked.push({ pod, at: performance.now() });
                return false;
            };
            await settled(proof.whyNotHeld(proven, Date.now() + windowMs));
            return proof.longestGapMs;
        }
        /** The most pods of a node that are tried at the same time, but for the last time, when all are. */
        const mostAtATime = () => {
            const last = asked.at(-1)!.at;
            const together = asked.map(({ pod, at }) => `${nodeOf(pod)} ${Math.round(at)} ${at === last}`);
            const counts = [...new Set(together)].map((one) => together.filter((other) => other === one).length);
            return Math.max(...counts.filter((_, index) => ![...new Set(together)][index]!.endsWith("true")));
        };

        it("10 pods of one node every 8 s", async () => {
            expect(await tried(10)).toBeGreaterThanOrEqual(8_000);
            expect(mostAtATime()).toBe(5);
        });

        it("20 pods of two nodes as often", async () => {
            expect(await tried(20)).toBeLessThan(9_000);
            expect(mostAtATime()).toBe(5);
        });

        it("5 pods at least every 5 s", async () => {
            expect(await tried(5)).toBeLessThanOrEqual(5_000);
        });
    });
});

describe("deleted targets", () => {
    const deleted: Proof = { deleted: true };
    const kill = (pod: string) => {
        const { uid } = run.target(pod);
        run.cluster.remove("Pod", pod);
        run.report({ at: Date.now(), killed: { pod, uid, label } });
    };

    it("prove the attack if the Job deleted them", async () => {
        const proof = proofOf(deleted);
        kill("hot-deals-1");
        expect(await heldThrough(proof, () => kill("hot-deals-2"))).toBeUndefined();
    });

    it("prove nothing while they run", async () => {
        expect(await settled(proofOf(deleted).attackProven())).toEqual({
            inconclusive: {
                code: "attack-not-proven",
                message: "hot-deals-1 should have been deleted, but still runs",
            },
        });
    });

    it("prove nothing if something else deleted them", async () => {
        const proof = proofOf(deleted);
        run.cluster.remove("Pod", "hot-deals-1");
        expect(await heldThrough(proof)).toBe("the targets are gone, but the deadline Job did not delete them");
    });

    it("do not hold if a later kill was due and could not be made, when and why is said", async () => {
        const proof = proofOf(deleted);
        kill("hot-deals-1");
        const missed = { label, forMs: 5_100, problem: "Pod hot-deals-2 cannot be deleted: 403" };
        expect(await heldThrough(proof, () => run.report({ at: Date.now(), missed }))).toMatch(
            /^the kill that was due 12(\.\d+)? s after .* was proven could not be made for 5\.1 s: “Pod .* 403”$/,
        );
    });

    it("hold if another attack's kill was missed", async () => {
        const proof = proofOf(deleted);
        kill("hot-deals-1");
        const missed = { label: "another", forMs: 5_100, problem: "no" };
        expect(await heldThrough(proof, () => run.report({ at: Date.now(), missed }))).toBeUndefined();
    });

    it("do not hold if a pod still runs that the Job reports as deleted", async () => {
        const proof = proofOf(deleted);
        kill("hot-deals-1");
        const { uid } = run.target("hot-deals-2");
        const change = () => run.report({ at: Date.now(), killed: { pod: "hot-deals-2", uid, label } });
        expect(await heldThrough(proof, change)).toBe("hot-deals-2 should have been deleted, but still runs");
    });
});

describe("targets whose eviction may be refused", () => {
    const evicted: Proof = { deleted: true, mayBeRefused: true };
    const problem = "the disruption budget hot-deals needs 1 healthy pods and has 1 currently";
    const both = () => proofOf(evicted, undefined, { targets: [run.target(), run.target("hot-deals-2")] });
    const refuseEviction = (pod: string) =>
        run.report({ at: Date.now(), refused: { pod, uid: run.target(pod).uid, label, problem } });
    const evict = (pod: string) => {
        const { uid } = run.target(pod);
        run.cluster.remove("Pod", pod);
        run.report({ at: Date.now(), killed: { pod, uid, label } });
    };

    it("prove the attack if the others are gone", async () => {
        const proof = both();
        refuseEviction("hot-deals-2");
        evict("hot-deals-1");
        expect(await heldThrough(proof)).toBeUndefined();
    });

    it("prove nothing while another still runs", async () => {
        const proof = both();
        refuseEviction("hot-deals-2");
        expect(await settled(proof.attackProven())).toMatchObject({
            inconclusive: {
                code: "attack-not-proven",
                message: expect.stringMatching(/^hot-deals-1 should have been/),
            },
        });
    });

    it("prove nothing if all were refused, and the reason has the budget's words", async () => {
        const proof = both();
        refuseEviction("hot-deals-1");
        refuseEviction("hot-deals-2");
        expect(await settled(proof.attackProven())).toEqual({
            inconclusive: {
                code: "eviction-refused",
                message: `the API server did not evict hot-deals-1: “${problem}”`,
            },
        });
    });

    it("prove the attack if one that was refused at first is evicted later", async () => {
        const proof = both();
        refuseEviction("hot-deals-1");
        refuseEviction("hot-deals-2");
        run.after(3_000, () => evict("hot-deals-2"));
        expect(await heldThrough(proof)).toBeUndefined();
    });
});

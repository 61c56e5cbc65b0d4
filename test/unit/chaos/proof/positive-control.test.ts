import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { StillWorks } from "../../../../chaos/kinds/attacks/attack-kind";
import { AttackProof } from "../../../../chaos/proof/attack-proof";
import type { Proven } from "../../../../chaos/proof/outcome";
import { PositiveControl } from "../../../../chaos/proof/positive-control";
import { Witness } from "../../../../chaos/proof/witness";
import type { ResolvedHost } from "../../../../chaos/targets/choose";
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

/** The proof of an attack on DNS, of which this must still work. */
function proofOf(stillWorks: StillWorks, leftOut: string[] = [], control?: ResolvedHost): AttackProof {
    const targets = [{ ...run.target(), ports: [8080, 8081] }];
    const peers = [{ ...run.target("hot-deals-2"), ports: [5432, 9187] }];
    const proof = { lookup: { name: "x" }, stillWorks };
    const cluster = run.cluster.api;
    const chosen = { targets, peers, leftOut, control };
    const witness = new Witness({ cluster, namespace: "demo", job, targetLabel: label, targets });
    const positive = new PositiveControl({ cluster, proof, chosen, witness });
    return new AttackProof({ run: "run", cluster, proof, chosen, witness, baselineMs: 30, positive });
}

/** Whether DNS lookups fail, as they should, and what connections do. */
const connections =
    (works: (pod: string, to: string) => boolean | string) =>
    (pod: string, args: readonly string[]): boolean | string =>
        args.length === 1 ? run.cluster.names("NetworkPolicy").length === 0 : works(pod, args.join(":"));

/** Attacks, and has something happen in the middle of the window. @returns why the attack did not hold */
async function attacked(proof: AttackProof, change: () => void = () => undefined): Promise<string | undefined> {
    run.attack();
    const proven = await settled(proof.attackProven());
    if ("inconclusive" in proven) throw new Error(proven.inconclusive.message);
    run.after(windowMs / 2, change);
    return (await settled(proof.whyNotHeld(proven, Date.now() + windowMs)))?.message;
}

describe("connections out of the targets that must still work", () => {
    const stillWorks = { outward: { port: 8080 } };
    const reason =
        "the attack blocks more than it should: a fresh connection from hot-deals-1/hot-deals to another pod at " +
        "port 8080 worked before it, and fails under it";

    it("are tried before the attack, when it is proven and at the end", async () => {
        const asked: [string, number][] = [];
        run.probe = connections((pod, to) => {
            asked.push([`${pod} ${to}`, performance.now()]);
            return true;
        });
        const proof = proofOf(stillWorks);
        expect(await settled(proof.baseline(0))).toEqual({ tookMs: expect.any(Number), leftOut: [] });
        const begun = performance.now();
        expect(await attacked(proof)).toBeUndefined();
        expect(asked.map(([what]) => what)).toEqual(Array(3).fill(`hot-deals-1 ${jobAddress}:8080`));
        const [, atOnce, atEnd] = asked.map(([, at]) => at - begun);
        expect(atOnce).toBeLessThan(1_000);
        expect(atEnd).toBeGreaterThan(windowMs - 2_000);
    });

    it("and do not, from the beginning: the attack is not what it says", async () => {
        run.probe = connections(() => run.cluster.names("NetworkPolicy").length === 0);
        expect(await settled(proofOf(stillWorks).baseline(0))).toHaveProperty("tookMs");
        expect(await attacked(proofOf(stillWorks))).toBe(reason);
    });

    it("and do not at the end: the attack is not what it says", async () => {
        run.probe = connections(() => true);
        const change = () => void (run.probe = connections(() => false));
        expect(await attacked(proofOf(stillWorks), change)).toBe(reason);
    });

    it("and do not in one family: the attack is not what it says", async () => {
        run.jobAddresses = [jobAddress, "fd00::99"];
        await vi.advanceTimersByTimeAsync(500);
        run.probe = connections((_, to) => to.startsWith(jobAddress));
        expect(await attacked(proofOf(stillWorks))).toContain("to another pod over IPv6 at port 8080 worked before it");
        const leftOut = ["from hot-deals-1/hot-deals to another pod over IPv6 at port 8080"];
        expect(await attacked(proofOf(stillWorks, leftOut))).toBeUndefined();
    });

    it("but fail once or twice: that spoils nothing", async () => {
        let tried = 0;
        run.probe = connections(() => tried++ % 3 === 2);
        expect(await attacked(proofOf(stillWorks))).toBeUndefined();
        expect(tried).toBe(6);
    });

    it("but only after a while, as soon as the network lets them through: they are tried", async () => {
        const begun = performance.now();
        run.probe = connections(() => performance.now() - begun > 30_000);
        expect(await settled(proofOf(stillWorks).baseline(45_000))).toMatchObject({ leftOut: [] });
    });

    it("but only after a while, in which a busy node did not answer once: they are tried", async () => {
        const begun = performance.now();
        const isAt = (ms: number) => Math.abs(performance.now() - begun - ms) < 1_000;
        let wasBusy = false;
        run.probe = connections(() => {
            if (!wasBusy && isAt(10_000)) return ((wasBusy = true), "timed out");
            return performance.now() - begun > 30_000;
        });
        expect(await settled(proofOf(stillWorks).baseline(45_000))).toMatchObject({ leftOut: [] });
        expect(wasBusy).toBe(true);
    });

    it("but nothing can be run to try them: they are left out at once, whatever patience there is", async () => {
        run.probe = connections(() => "no shell");
        const begun = performance.now();
        expect((await settled(proofOf(stillWorks).baseline(45_000))) as object).toMatchObject({
            leftOut: ["from hot-deals-1/hot-deals to another pod at port 8080"],
        });
        expect(performance.now() - begun).toBeLessThan(10_000);
    });

    it("but did not even before the attack: they are left out", async () => {
        run.probe = connections(() => false);
        const leftOut = ["from hot-deals-1/hot-deals to another pod at port 8080"];
        expect(await settled(proofOf(stillWorks).baseline(0))).toMatchObject({ leftOut });
        expect(await attacked(proofOf(stillWorks, leftOut))).toBeUndefined();
    });

    it("but cannot be tried under attack: the reason says so", async () => {
        run.probe = connections(() => "refused");
        expect(await attacked(proofOf(stillWorks))).toBe(
            "what must still work under the attack could not be tried: nothing can be run in hot-deals-1/hot-deals: " +
                "refused",
        );
    });
});

describe("ports of the targets that must still accept connections", () => {
    it("are those that the attack does not block", async () => {
        run.probe = connections(() => true);
        // The Job finds 8080 closed under this attack.
        expect(await attacked(proofOf({ inward: { except: [] } }))).toContain(
            "a fresh connection from another pod to 10.0.0.1:8080 worked before it, and fails under it",
        );
    });

    it.each<[string, boolean | string]>([
        ["from within either: the application is blocked, or has crashed", false],
        ["and nothing can be run in the target", "no shell"],
    ])("but do not, %s", async (_, fromWithin) => {
        run.probe = connections(() => fromWithin);
        expect(await attacked(proofOf({ inward: { except: [] } }))).toBeUndefined();
    });

    it("but did not for a time", async () => {
        run.probe = connections(() => true);
        const change = () => void (run.reachable = ["10.0.0.1"]);
        expect(await attacked(proofOf({ inward: { except: [] } }), change)).toBeUndefined();
    });

    it("delay the end of an aborted run by two seconds at most", async () => {
        run.attack();
        run.probe = connections(() => true);
        const proof = proofOf({ inward: { except: [] } });
        const proven = (await settled(proof.attackProven())) as Proven;
        const abort = new AbortController();
        run.after(5_000, () => {
            run.probeMs = ({ length }) => (length === 1 ? 20 : 9_000);
            abort.abort();
        });
        const begun = performance.now();
        expect(await settled(proof.whyNotHeld(proven, Date.now() + windowMs, abort.signal))).toBeUndefined();
        expect(performance.now() - begun).toBeLessThan(8_000);
    });

    it("are not those that it blocks", async () => {
        run.probe = connections(() => true);
        expect(await attacked(proofOf({ inward: { except: [8080] } }))).toBeUndefined();
    });
});

describe("a host that the attack leaves alone", () => {
    const control = { host: "kubernetes.default.svc", port: 443, addresses: ["10.96.0.1"] };

    it("must still be reached by the targets, and is named if not", async () => {
        expect(await attacked(proofOf({}, [], control))).toMatch(
            /to kubernetes\.default\.svc \(10\.96\.0\.1\) at port 443 worked before it, and fails/,
        );
        run.cluster.remove("NetworkPolicy", "run-blackhole");
        run.probe = connections(() => true);
        expect(await attacked(proofOf({}, [], control))).toBeUndefined();
    });

    it("is left out if it was not reached before the attack", async () => {
        run.probe = connections((_, to) => !to.startsWith("10.96."));
        const { leftOut } = (await settled(proofOf({}, [], control).baseline(0))) as { leftOut: string[] };
        expect(leftOut).toEqual(["from hot-deals-1/hot-deals to kubernetes.default.svc (10.96.0.1) at port 443"]);
        expect(await attacked(proofOf({}, leftOut, control))).toBeUndefined();
    });
});

describe("other ports of the peers", () => {
    it("must still accept connections from the targets", async () => {
        run.probe = connections((_, to) => to !== "10.0.0.2:9187");
        const stillWorks: StillWorks = { peers: { ways: ["egress"], except: [5432] } };
        expect(await attacked(proofOf(stillWorks))).toContain("from hot-deals-1/hot-deals to 10.0.0.2 at port 9187");
    });
});

describe("pods that are no targets", () => {
    const stillWorks: StillWorks = { untouched: true };
    /** Attacks when the Job has reached one of them. */
    const attackedWith = async (change: () => void) => {
        run.reference = () => true;
        await vi.advanceTimersByTimeAsync(500);
        run.probe = connections(() => true);
        return attacked(proofOf(stillWorks), change);
    };

    it("must still be reached by the witness", async () => {
        expect(await attackedWith(() => undefined)).toBeUndefined();
        run.cluster.remove("NetworkPolicy", "run-blackhole");
        expect(await attackedWith(() => void (run.reference = () => false))).toContain(
            "the attack blocks more than it should: a fresh connection between pods that are no targets worked before",
        );
    });

    it("need not be if none is left that is ready", async () => {
        expect(await attackedWith(() => void (run.reference = () => undefined))).toBeUndefined();
    });

    it("are not waited for, and nothing is run in the Job's pod", async () => {
        const asked = new Set<string>();
        run.probe = connections((pod) => asked.add(pod) && true);
        const proof = proofOf(stillWorks);
        expect(await settled(proof.baseline(0))).toEqual({ tookMs: expect.any(Number), leftOut: [] });
        expect([...asked, await attacked(proof)]).toEqual([undefined]);
    });
});

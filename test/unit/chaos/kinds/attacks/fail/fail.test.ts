import { describe, expect, it } from "vitest";
import { mistakesIn } from "../../../../../../chaos/definition/definition";
import { attackKindOf } from "../../../../../../chaos/kinds/attacks/registry";
import { byWitness } from "../../../../../../chaos/proof/trials";
import { cutSince, leftOutBefore, whyNotCut } from "../../../../../../chaos/proof/judge";
import type { Target } from "../../../../../../chaos/targets/containers";

const kind = attackKindOf({ kind: "fail" });

it("a `fail` has no settings of its own", () => {
    const attack = { kind: "fail", target: "k8s.deployment=web" };
    expect(mistakesIn({ hypothesis: "It holds.", attacks: [attack] })).toEqual([]);
    expect(mistakesIn({ hypothesis: "It holds.", attacks: [{ ...attack, image: "pause" }] })).toHaveLength(1);
});

it("needs no right but to change its targets' pods, neither does the Job", () => {
    expect(Object.keys(kind)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^rights/)]));
});

/** What the witness tries of a target whose containers serve these ports. */
function trialsOf(...endpoints: string[]) {
    const target = { pod: "web-1", container: "web", uid: "u", address: "10.0.0.1", ports: [8080, 9090] } as Target;
    const chosen = { targets: [target], tried: [{ endpoints }] };
    const reported = kind.reported!({ chosen } as unknown as Parameters<NonNullable<typeof kind.reported>>[0]);
    return byWitness({ proof: kind.proof({ kind: "fail" }), chosen, reported });
}

describe("is proven", () => {
    const witness = trialsOf("10.0.0.1:8080");
    const web = "the container web-1/web";
    const [port, other] = ["10.0.0.1:8080", "10.0.0.1:9090"];
    const report = (open: string[], closed: string[], at = 0) => ({ at, open, closed });
    const stopped = report([other], [web, port]);

    it("once its containers do not run, and its ports that nobody else serves are closed", () => {
        expect(cutSince(witness, [stopped])).toEqual({ at: 0 });
        expect(whyNotCut(witness, [stopped], 0, 1_000)).toBeUndefined();
    });

    it.each<[string, ReturnType<typeof report>, string]>([
        ["a container runs", report([web, port], []), `${web} was running`],
        ["nothing is known of one", report([], [port]), `${web} could not be seen`],
        ["a port accepts connections", report([port], [web]), `${port} still accepted fresh connections`],
    ])("not while %s", (_, seen, message) => {
        expect(cutSince(witness, [seen])).toEqual({ code: "attack-not-proven", message });
    });

    it.each<[string, ReturnType<typeof report>[], string]>([
        ["a container ran", [report([web], [port], 500)], `${web} was running at a moment of the run`],
        [
            "nothing was known of one for a time",
            [report([], [port], 500), report([], [port], 5_000)],
            `${web} could not be seen at a moment of the run`,
        ],
        [
            "a port accepted connections",
            [report([port], [web], 500)],
            `the target web-1 became reachable again during the run, at ${port}`,
        ],
    ])("and not any more if %s", (_, later, message) => {
        expect(whyNotCut(witness, [stopped, ...later], 0, 6_000)).toMatchObject({ code: "attack-not-held", message });
    });

    it("only if such a port accepted connections before", () => {
        expect(leftOutBefore(witness, { open: [port] })).toEqual({ leftOut: [] });
        expect(leftOutBefore(witness, { open: [] })).toMatchObject({
            code: "baseline-failed",
            message: `nothing answered at ${port} of web-1 before the attack`,
        });
    });

    it("without a port if it serves none", () => {
        const trials = trialsOf();
        expect(leftOutBefore(trials, { open: [] })).toEqual({ leftOut: [] });
        expect(cutSince(trials, [report([port, other], [web])])).toEqual({ at: 0 });
    });
});

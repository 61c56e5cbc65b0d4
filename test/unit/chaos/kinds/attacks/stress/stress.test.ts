import { describe, expect, it } from "vitest";
import { describeUsage, type UsageReport } from "../../../../../../chaos/kinds/attacks/stress/usage";
import { attackKindOf } from "../../../../../../chaos/kinds/attacks/registry";
import { wantedOf } from "../../../../../../chaos/kinds/attacks/stress/taken";
import type { StressAttack } from "../../../../../../chaos/kinds/attacks/stress/stress";
import { mistakesIn } from "../../../../../../chaos/definition/definition";

const of = (attack: Omit<StressAttack, "kind">): StressAttack => ({ kind: "stress", ...attack });
const mistakes = (attack: object) =>
    mistakesIn({ hypothesis: "It holds.", attacks: [{ kind: "stress", target: "k8s.deployment=web", ...attack }] });

describe("a stress", () => {
    it.each<[Omit<StressAttack, "kind">, string]>([
        [{}, "100% of the CPU limit"],
        [{ cpu: "2" }, "2 cores"],
        [{ cpu: "500m", memory: "200Mi" }, "0.5 cores and 200Mi of memory"],
        [{ memory: "80%" }, "80% of the memory limit"],
    ])("of %j says what it takes", (attack, words) => {
        expect(attackKindOf(of(attack)).describe(of(attack))).toBe(`under load: a program in it takes ${words}`);
    });

    it("takes CPU by default, unless it is to take memory", () => {
        expect([wantedOf({}), wantedOf({ memory: "1Gi" })]).toEqual([{ cpu: "100%" }, { memory: "1Gi" }]);
    });

    it("names all its mistakes, and what is allowed", () => {
        expect(mistakes({ cpu: "2 cores", memory: "200" })).toEqual([
            'attacks.0.cpu: "2 cores" is not allowed; allowed: cores, such as "2" or "500m", or a percentage of the ' +
                'container\'s limit, such as "80%"',
            'attacks.0.memory: "200" is not allowed; allowed: at least 1Mi, such as "200Mi" or "1Gi", or a ' +
                'percentage of the container\'s limit, such as "80%"',
        ]);
        expect(mistakes({ cpu: "2", untilKilled: true })).toEqual([
            "attacks.0.untilKilled: needs memory, which is what exceeds the limit; set it, or leave this out",
        ]);
        expect(mistakes({ cpu: "80%", memory: "80%", untilKilled: true, neighbours: "accept" })).toEqual([]);
    });

    it("needs to run commands in its namespace, and nothing else of it; and the Job needs the same", () => {
        const kind = attackKindOf(of({}));
        const exec = { resource: "pods/exec", verbs: ["create", "get"] };
        expect(kind.rights!("demo")).toEqual([expect.objectContaining({ namespace: "demo", ...exec })]);
        expect(kind.rightsInJob!("x", of({}))).toEqual([expect.objectContaining(exec)]);
    });
});

describe("what a container used", () => {
    const use = { cores: 0.1, throttled: 0, bytes: 20 * 2 ** 20, node: { busy: 0.5 } };
    const usage: UsageReport = {
        pod: "web-1",
        container: "web",
        tool: "perl",
        cgroup: 1,
        limit: { cores: 0.2, bytes: 128 * 2 ** 20 },
        before: use,
        under: { cores: 0.2, throttled: 0.9, bytes: 100 * 2 ** 20, node: { busy: 0.75 } },
    };

    it("is said with limits, throttling and the node", () => {
        expect(describeUsage(usage)).toBe(
            "web-1/web used 0.1 cores before, 0.2 of 0.2 under attack, throttled in 90% of the periods; " +
                "memory 20 MiB, then up to 100 MiB of 128 MiB; its node was 50% busy before, 75% under attack",
        );
    });

    it("has no limits or node that are not known", () => {
        const under = { ...use, node: {} };
        expect(describeUsage({ ...usage, limit: {}, under })).toBe(
            "web-1/web used 0.1 cores before, 0.1 under attack; memory 20 MiB, then up to 20 MiB",
        );
    });

    it("tells a killed program from a killed container", () => {
        expect(describeUsage({ ...usage, killed: "program" })).toMatch(
            /the program .* was killed .* the container was not$/,
        );
        expect(describeUsage({ ...usage, killed: "container" })).toMatch(/; the container was killed for memory$/);
    });
});

import { expect, it } from "vitest";
import { planOfArguments } from "../../../../chaos/definition/arguments";

const right = {
    hypothesis: "It holds.",
    attacks: [{ kind: "dns", target: "k8s.deployment=web,k8s.namespace=demo" }],
    checks: [
        { kind: "http", path: "/", url: "http://shop.example", latency: { p50: { atMost: "2x" } }, perSecond: 10 },
    ],
};
const planOf = (changes: object) => planOfArguments("tried", { ...right, ...changes } as never);

it.each<[written: object, mistake: string]>([
    [{ window: "30s" }, 'window: "30s" is not allowed; allowed: an object, such as { duration: "30s" }'],
    [{ baseline: "30s" }, 'baseline: "30s" is not allowed; allowed: an object, such as { duration: "30s" }'],
    [{ begin: "30s" }, 'begin: "30s" is not allowed; allowed: an object, such as { when: CHECK }'],
    [{ begin: { when: "/" } }, 'begin.when: is "/"; allowed: an object'],
    [{ attacks: { kind: "dns" } }, "attacks: is an object; allowed: a list"],
    [{ checks: ["/"] }, 'checks.0: is "/"; allowed: an object'],
])("%j is a mistake that says what an object or a list holds", (written, mistake) => {
    expect(() => planOf({})).not.toThrow();
    expect(() => planOf(written)).toThrow(mistake);
});

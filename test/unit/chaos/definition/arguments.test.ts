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

it.each([null, undefined])("%s in place of arguments is a mistake, as all others are", (args) =>
    expect(() => planOfArguments("tried", args as never)).toThrow(
        /^the experiment tried has .*:\n {2}the experiment: is (?:null|missing); allowed: an object/,
    ),
);

it.each([undefined, null, 5, ["a"], "", "A"])("%j is no name", (name) =>
    expect(() => planOfArguments(name as never, right as never)).toThrow("its name: "),
);

it.each([
    [{ deadline: "5s" }, "from 10s to 24h, such as 30s or 1m"],
    [{ window: { duration: "2h" } }, "from 1s to 1h, such as 30s or 1m"],
    [{ timeout: "2h" }, "from 100ms to 1m, such as 30s or 1m"],
    [{ window: { grace: "2h" } }, "from 0s to 10m, such as 30s or 1m"],
])("the durations named beside %j are allowed", (written, range) =>
    expect(() => planOf(written)).toThrow(new RegExp(`${range}$`, "m")),
);

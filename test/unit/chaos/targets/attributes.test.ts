import { describe, expect, it } from "vitest";
import { matches, parseAttributes } from "../../../../chaos/targets/attributes";

const holds = (expression: string, attributes: Record<string, string>) =>
    matches(parseAttributes(expression), attributes);

describe("a label may have an empty value, as in Kubernetes:", () => {
    const [empty, set, without] = [{ "k8s.label.tier": "" }, { "k8s.label.tier": "front" }, {}];
    it.each([
        ["k8s.label.tier=", [true, false, false]],
        ["k8s.label.tier!=", [false, true, true]],
        ["k8s.label.tier=front|", [true, true, false]],
    ])("%s", (expression, expected) =>
        expect([empty, set, without].map((attributes) => holds(expression, attributes))).toEqual(expected),
    );
});

it.each(["k8s.deployment=", "k8s.namespace=a|", "container.image!="])("no other attribute has one: %s", (expression) =>
    expect(() => parseAttributes(expression)).toThrow(`"" in "${expression}" is not a value`),
);

it.each(["", "k8s.deployment", "k8s.pod.name=b,"])("%j is no expression", (expression) =>
    expect(() => parseAttributes(expression)).toThrow("is not a condition; write key=value"),
);

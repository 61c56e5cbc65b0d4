import { describe, expect, it } from "vitest";
import { checkedAttributes, matches, parseAttributes } from "../../../../chaos/targets/attributes";

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

describe("a target that nothing can be is a mistake:", () => {
    it.each([
        [
            "k8s.namespace=Shop",
            '"Shop" in "k8s.namespace=Shop" cannot be; allowed: lower-case letters, digits, - and .',
        ],
        ["k8s.deployment='gw'", `"'gw'" in "k8s.deployment='gw'" cannot be; allowed: lower-case letters`],
        ["k8s.deployment!='gw'", "cannot be"],
        ["k8s.deployment=a|Gw_1", '"Gw_1" in'],
        ["k8s.container.name=a b", "cannot be"],
        ["k8s.label.app=a b", '"a b" in "k8s.label.app=a b" cannot be; allowed: letters, digits, _, - and .'],
        ["k8s.zone='a'", "cannot be"],
        ["k8s.label.bad key=a", '"k8s.label.bad key" in "k8s.label.bad key=a" cannot be; allowed: letters'],
        ["k8s.label.{{x}}=a", "cannot be"],
        ["k8s.node.label.'a'=b", "cannot be"],
        ["k8s.namespace=a,k8s.namespace=b", "the conditions of k8s.namespace exclude each other; leave one out"],
        ["k8s.deployment=a,k8s.deployment=b|c", "the conditions of k8s.deployment exclude"],
        ["k8s.namespace=a,k8s.namespace!=a", "the conditions of k8s.namespace exclude"],
        ["k8s.deployment=b,k8s.deployment=a*", "exclude each other"],
        ["k8s.label.app=a,k8s.label.app=b", "exclude each other"],
    ])("%s", (expression, mistake) => {
        expect(() => parseAttributes(expression)).not.toThrow();
        expect(() => checkedAttributes(expression)).toThrow(mistake);
    });

    it.each([
        "k8s.deployment=gw.v1",
        "k8s.deployment=gw-*",
        "k8s.deployment=*",
        "k8s.deployment=a|b,k8s.deployment=b|c",
        "k8s.deployment=a*,k8s.deployment=ab,k8s.deployment!=ac",
        "k8s.deployment!=a,k8s.deployment!=b",
        "k8s.namespace=a,k8s.namespace!=b",
        "k8s.label.tier=",
        "k8s.label.tier!=,k8s.label.tier=a",
        "k8s.label.app.kubernetes.io/name=Web_1.a",
        "k8s.label.App_1=a-*",
        "k8s.node.label.node.kubernetes.io/instance-type=m5.large",
        "k8s.zone=eu-west-1a",
        "container.image=ghcr.io/a/b:v1@sha256:0",
        "container.image=ghcr.io/*",
        "container.id=containerd://0a",
        "k8s.cluster-name=My cluster",
        "host.hostname=node-1.example",
        "k8s.deployment = gw , k8s.namespace = shop",
    ])("but not %s", (expression) => expect(checkedAttributes(expression)).toEqual(parseAttributes(expression)));
});

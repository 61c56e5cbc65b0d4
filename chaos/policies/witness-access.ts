import type { V1NetworkPolicy, V1NetworkPolicySpec } from "../values/kubernetes-types";
import { labels } from "../cluster/labels";
import type { BesidePolicy } from "./beside";
import { exemption } from "./exemption";
import { isolates, policyRules, type PolicySpec, type Rule, type Way, ways } from "./rules";
import { also, isSameSelector, isWithin } from "./selector";

/** The proxy of a fault has a policy of its own. */
const jobPods = (pass: string) => ({
    matchLabels: { [labels.pass]: pass },
    matchExpressions: [{ key: labels.proxy, operator: "DoesNotExist" }],
});

/** Connections with the deadline Job's pod, on all ports. @param pass see `labels.pass` */
export const witnessRule = (pass: string): Rule => ({ peers: [{ podSelector: jobPods(pass) }] });

/** Lets the deadline Job's pod reach the API server and all pods, and be reached. */
export const jobPolicy = (pass: string): PolicySpec => ({
    podSelector: jobPods(pass),
    ...policyRules({ ingress: [{}], egress: [{}] }),
});

/**
 * The policies that let other pods accept the deadline Job's connections, and connect to it. Each selects only pods
 * that a policy isolates already, so it takes nothing from them; and no pod under attack.
 *
 * @param attacked value of the label on pods under attack
 */
export function witnessPolicies(policies: readonly V1NetworkPolicy[], pass: string, attacked: string): BesidePolicy[] {
    const specs = policies.flatMap(({ spec }) => spec ?? []);
    const isolated: { podSelector: V1NetworkPolicySpec["podSelector"]; types: Way[] }[] = [];
    for (const way of ways) {
        for (const podSelector of widest(specs.filter((spec) => isolates(spec, way)))) {
            const known = isolated.find((one) => isSameSelector(one.podSelector!, podSelector));
            if (known) known.types.push(way);
            else isolated.push({ podSelector, types: [way] });
        }
    }
    const rules = [witnessRule(pass)];
    return isolated.map(({ podSelector, types }) => ({
        adds: true,
        spec: {
            podSelector: also(podSelector!, exemption(attacked)),
            ...policyRules(Object.fromEntries(types.map((way) => [way, rules]))),
        },
    }));
}

/** The selectors of policies, without those that select only what another selects, too. */
function widest(specs: readonly V1NetworkPolicySpec[]) {
    const selectors = specs.map(({ podSelector }) => podSelector ?? {});
    return selectors.filter((one, index) =>
        selectors.every(
            (another, other) => other === index || !isWithin(one, another) || (isWithin(another, one) && index < other),
        ),
    );
}

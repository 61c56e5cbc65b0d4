import type { V1NetworkPolicy, V1NetworkPolicySpec } from "@kubernetes/client-node";
import { labels } from "../cluster/labels";
import { exemption } from "./exemption";
import { isolates, policyRules, type PolicySpec, type Rule, type Way, ways } from "./rules";
import { also, isSameSelector, isWithin } from "./selector";

/** The proxy of a fault has a policy of its own. */
const jobPods = (experiment: string) => ({
    matchLabels: { [labels.experiment]: experiment },
    matchExpressions: [{ key: labels.proxy, operator: "DoesNotExist" }],
});

/** Begins the names of policies that admit the witness or an attack among others. The Job makes them select nobody. */
export const admitPrefix = (runName: string) => `${runName}-admit-`;

/** Connections with the deadline Job's pod, on all ports. */
export const witnessRule = (experiment: string): Rule => ({ peers: [{ podSelector: jobPods(experiment) }] });

/** The merge patch by which a policy selects no pod: none has this label under both conditions. */
export const selectingNobody = {
    spec: {
        podSelector: {
            matchLabels: null,
            matchExpressions: ["Exists", "DoesNotExist"].map((operator) => ({ key: labels.attacked, operator })),
        },
    },
};

/** Lets the deadline Job's pod reach the API server and all pods, and be reached. */
export const jobPolicy = (experiment: string): PolicySpec => ({
    podSelector: jobPods(experiment),
    ...policyRules({ ingress: [{}], egress: [{}] }),
});

/**
 * The policies that let other pods accept the deadline Job's connections, and connect to it. Each selects only pods
 * that a policy isolates already, so it takes nothing from them; and no pod under attack.
 */
export function witnessPolicies(policies: readonly V1NetworkPolicy[], experiment: string): PolicySpec[] {
    const specs = policies.flatMap(({ spec }) => spec ?? []);
    const isolated: { podSelector: V1NetworkPolicySpec["podSelector"]; types: Way[] }[] = [];
    for (const way of ways) {
        for (const podSelector of widest(specs.filter((spec) => isolates(spec, way)))) {
            const known = isolated.find((one) => isSameSelector(one.podSelector!, podSelector));
            if (known) known.types.push(way);
            else isolated.push({ podSelector, types: [way] });
        }
    }
    const rules = [witnessRule(experiment)];
    return isolated.map(({ podSelector, types }) => ({
        podSelector: also(podSelector!, exemption),
        ...policyRules(Object.fromEntries(types.map((way) => [way, rules]))),
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

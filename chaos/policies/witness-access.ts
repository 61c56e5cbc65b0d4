import type { V1LabelSelector, V1NetworkPolicy, V1NetworkPolicySpec } from "../values/kubernetes-types";
import { labels } from "../cluster/labels";
import type { NewPolicy } from "./own-policies";
import { exemption } from "./exemption";
import { isolates, policyRules, type PolicySpec, type Rule, type Way, ways } from "./rules";
import { also, isSameSelector, isWithin } from "./selector";

/** Pods that actions have beside the run have the label, too. The proxy of a fault has a policy of its own. */
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
export const witnessPolicies = (policies: readonly V1NetworkPolicy[], pass: string, attacked: string): NewPolicy[] =>
    isolatedIn(policies, ways).map(({ podSelector, types }) => ({
        adds: true,
        spec: {
            podSelector: also(podSelector, exemption(attacked)),
            ...policyRules(Object.fromEntries(types.map((way) => [way, [witnessRule(pass)]]))),
        },
    }));

/**
 * The policies that let other pods accept the connections of what actions have beside the run, under the same
 * conditions. The targets are not chosen yet: of all pods, those under an attack that denies traffic have the label.
 * What that attack leaves of these connections, its own policy allows.
 */
export const besidePolicies = (policies: readonly V1NetworkPolicy[], pass: string): NewPolicy[] =>
    isolatedIn(policies, ["ingress"]).map(({ podSelector }) => ({
        adds: true,
        spec: {
            podSelector: also(podSelector, { key: labels.attacked, operator: "DoesNotExist" }),
            ...policyRules({ ingress: [witnessRule(pass)] }),
        },
    }));

/** The widest selectors of policies that isolate pods in some directions, and in which they do. */
function isolatedIn(policies: readonly V1NetworkPolicy[], among: readonly Way[]) {
    const specs = policies.flatMap(({ spec }) => spec ?? []);
    const isolated: { podSelector: V1LabelSelector; types: Way[] }[] = [];
    for (const way of among) {
        for (const podSelector of widest(specs.filter((spec) => isolates(spec, way)))) {
            const known = isolated.find((one) => isSameSelector(one.podSelector, podSelector));
            if (known) known.types.push(way);
            else isolated.push({ podSelector, types: [way] });
        }
    }
    return isolated;
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

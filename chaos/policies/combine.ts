import type { V1NetworkPolicy } from "../values/kubernetes-types";
import { type Pod, portNumberIn } from "../values/kubernetes-rules";
import { labels } from "../cluster/labels";
import { ReasonError } from "../values/reasons";
import { madeFrom, type RestsOn } from "./own-policies";
import { type Denial, isTotal, type Peers, subtract } from "./denial";
import { isolates, type PolicyRules, policyRules, protocolOf, type Rule, rulesOf, type Way, ways } from "./rules";
import { type Labels, selects } from "./selector";

export interface PolicedPod {
    uid: string;
    labels: Labels;
    /** Whose ports have names. @default none has */
    spec?: Pod["spec"];
}

/** What an attack makes of the policies of its targets: policies add up, so one allows what another denies. */
export interface Combination {
    /** Policies that allow some of what the attack denies, and must stop selecting its targets. */
    toExempt: V1NetworkPolicy[];
    /**
     * What some targets are still allowed: what their policies allow, but for what the attack denies. Empty if it
     * denies everything. Targets to which no policy applies are in none.
     */
    combined: { pods: string[]; rules: PolicyRules; from: RestsOn["from"] }[];
}

/**
 * Combines an attack with the policies that apply to its targets.
 *
 * @param witness allows connections with the deadline Job's pod: without them, nothing would be proven
 * @throws ReasonError that names a policy whose rules cannot be combined with the attack
 */
export function combine(
    policies: readonly V1NetworkPolicy[],
    targets: readonly PolicedPod[],
    { denial, peers, witness }: { denial: Denial; peers: Peers; witness: Rule },
): Combination {
    const toExempt = policies.filter(
        ({ spec }) =>
            denial.ways.some((way) => rulesOf(spec!, way).length > 0) &&
            targets.some((target) => selects(spec!.podSelector, { ...target.labels, [labels.attacked]: "" })),
    );
    if (isTotal(denial)) return { toExempt, combined: [] };
    const groups = new Map<string, Combination["combined"][number]>();
    for (const { uid, labels: of, spec: pod } of targets) {
        const applying = policies.filter(({ spec }) => selects(spec!.podSelector, of));
        if (applying.length === 0) continue;
        const rules = left(applying, pod, denial, { peers, witness });
        // The same policies may make other rules of another pod, in which a named port has another number.
        const key = JSON.stringify([applying.map(({ metadata }) => metadata!.name), rules]);
        const group = groups.get(key) ?? { pods: [], rules, from: madeFrom(applying) };
        group.pods.push(uid);
        groups.set(key, group);
    }
    return { toExempt, combined: [...groups.values()] };
}

/** What some policies together allow a pod of what an attack leaves. */
function left(
    policies: readonly V1NetworkPolicy[],
    pod: PolicedPod["spec"],
    denial: Denial,
    { peers, witness }: { peers: Peers; witness: Rule },
): PolicyRules {
    const namespace = policies[0]!.metadata!.namespace!;
    const allowed: Partial<Record<Way, Rule[]>> = {};
    for (const way of ways) {
        const isDenied = denial.ways.includes(way);
        const reduced = (rule: Rule) => (isDenied ? subtract(rule, denial, peers, namespace) : [rule]);
        const isolating = policies.filter(({ spec }) => isolates(spec!, way));
        if (isolating.length > 0) {
            const rules = isolating.flatMap((policy) =>
                naming(policy, () => {
                    const rules = rulesOf(policy.spec!, way);
                    return (way === "ingress" ? rules.flatMap((rule) => inNumbers(rule, pod)) : rules).flatMap(reduced);
                }),
            );
            // No peer of the attack: all of it is left.
            const forWitness = denial.withPeers ? [witness] : reduced(witness);
            allowed[way] = [...rules, ...forWitness];
        } else if (isDenied) allowed[way] = reduced({});
    }
    return policyRules(allowed);
}

/** An ingress rule with its named TCP ports as they are in a pod. None is left if that has none of them. */
function inNumbers({ ports = [], ...rest }: Rule, spec: PolicedPod["spec"]): Rule[] {
    const known = ports.flatMap((one) => {
        if (typeof one.port !== "string" || protocolOf(one) !== "TCP") return [one];
        const port = portNumberIn({ spec }, one.port);
        return port === undefined ? [] : [{ ...one, port }];
    });
    return ports.length > 0 && known.length === 0 ? [] : [{ ...rest, ports: known }];
}

function naming<T>({ metadata }: V1NetworkPolicy, work: () => T): T {
    try {
        return work();
    } catch (error) {
        throw new ReasonError(
            "attack-refused",
            `the NetworkPolicy ${metadata!.name} applies to a target and allows ${(error as Error).message}: the ` +
                "attack would allow more than that policy, or less than it should",
            "Attack both directions without ports and peers, or write that policy with port numbers and addresses",
        );
    }
}

import { type Plan, targetLabelFor } from "../definition/plan";
import { describeRadius } from "../targets/radius";
import { renewLease } from "../lifecycle/lease";
import { AttackProofs } from "../proof/attack-proofs";
import { describeBesides } from "../targets/besides";
import { type Chosen, chooseForAll } from "../targets/choose";
import { labelOfPeers } from "../targets/distinguish";
import { discover } from "../targets/discover";
import { labelPod, unlabelAll } from "../targets/label";
import { ignoreNotFound } from "../cluster/client";
import type { Step, StepContext, StepInputs } from "./contract";
import { equip } from "./equip";
import { refuseWebhookServers } from "../targets/webhooks";
import { printed } from "./results";

/**
 * Chooses the targets and labels their pods: the attacks select the labels. Then waits until the deadline Job has
 * looked at them, since an attack must not begin that nothing could end or witness.
 */
export const labelTargets: Step<"label-targets", "deadlineJob" | "deadlineJobUid"> = async (context, given) => {
    const { plan, cluster, stack, say } = context;
    const { deadlineJob } = given;
    await requireSameCluster(context, given);
    // An update that slept since the steady state may have lost the lease, or somebody may have deleted it to stop it.
    const [discovered] = await Promise.all([discover(cluster, plan), renewLease(cluster, { stack, plan })]);
    const chosen = chooseForAll(discovered, plan);
    for (const one of chosen) one.peersLabel = one.peers && (await labelOfPeers(cluster, one.peers, discovered));
    requireWithin(plan, chosen);
    await refuseWebhookServers(cluster, plan, discovered);
    // A killed update may have labeled others: together with these they could exceed the radius.
    await unlabelAll(cluster, plan.namespace);
    try {
        for (const [index, { targets }] of chosen.entries()) {
            const label = targetLabelFor(plan, plan.attacks[index]!);
            for (const pod of targets) await labelPod(cluster, pod, label);
            say(describe(plan, index, chosen[index]!) + describeBesides(discovered, targets));
        }
        const equipped = await equip(context, chosen, discovered);
        const baseline = await new AttackProofs({ cluster, plan, job: deadlineJob, chosen: equipped }).baseline();
        if ("tookMs" in baseline && baseline.leftOut) say(describeLeftOut(baseline.leftOut));
        const result = { attacks: equipped, control: baseline };
        // Refuses what the check could not be given, while the labels can still be removed.
        printed(result);
        return result;
    } catch (error) {
        await unlabelAll(cluster, plan.namespace);
        throw error;
    }
};

/**
 * The Job is made by the provider of the stack's resources, and the steps use a kubeconfig.
 *
 * @throws Error if these are two clusters: one would be attacked while the other is watched
 */
async function requireSameCluster(
    { plan: { namespace }, cluster }: StepContext,
    { deadlineJob: name, deadlineJobUid: uid }: Pick<StepInputs, "deadlineJob" | "deadlineJobUid">,
): Promise<void> {
    const job = await ignoreNotFound(cluster.batch.readNamespacedJob({ name, namespace }));
    if (job?.metadata!.uid === uid) return;
    throw new Error(
        `the provider has created the Job ${name} in another cluster than the kubeconfig's, where namespace ` +
            `${namespace} does not have it. Nothing was attacked. Give the experiment the kubeconfig and the context ` +
            "of its provider",
    );
}

const maxNamed = 3;

function describeLeftOut(connections: string[]): string {
    const named = connections.slice(0, maxNamed).join(", ");
    const more = connections.length > maxNamed ? `, and ${connections.length - maxNamed} more` : "";
    return (
        `Not in the positive control, since they do not work before the attack or cannot be tried: connections ` +
        `${named}${more}`
    );
}

/**
 * Attributes and place of a container come in one answer, which may contradict itself.
 *
 * @throws Error if a target is outside of the plan's namespace, which alone has the lease and whose labels are removed
 */
function requireWithin({ namespace }: Plan, chosen: readonly Chosen[]): void {
    const outside = chosen.flatMap(({ targets }) => targets).find((target) => target.namespace !== namespace);
    if (outside === undefined) return;
    throw new Error(
        `the chosen pod ${outside.pod} is in namespace ${outside.namespace}, and the experiment may only attack ` +
            `namespace ${namespace}. Nothing was attacked; what the agent says contradicts itself`,
    );
}

function describe({ attacks }: Plan, index: number, { targets, matching }: Chosen): string {
    const { name, radius } = attacks[index]!;
    const of = attacks.length === 1 ? "" : ` of ${name}`;
    const containers = targets.map(({ pod, container }) => `${pod}/${container}`).join(", ");
    return `Targets${of}: ${containers} (${describeRadius(radius)} of ${matching} matching)`;
}

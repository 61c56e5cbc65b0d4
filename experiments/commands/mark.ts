import { describeRadius } from "../../shared/radius";
import { claim } from "../claim";
import { markOf } from "../plan";
import { AttackProofs } from "../proofs";
import { chooseForAll } from "../targets/choose";
import type { ChosenTargets } from "../targets/chosen";
import { discover } from "../targets/discover";
import { mark, unmarkAll } from "../targets/mark";
import { runStep, say } from "./step";

/**
 * Chooses the targets and marks their pods with the labels that the attacks select; then waits until the deadline's Job
 * has looked at them, since an attack that nobody could end or witness must not begin.
 */
runStep<ChosenTargets>(async (plan, cluster) => {
    const { area, clusterName, attacks, namespace, shopNamespace } = plan;
    // Claimed once more, since an update that slept in between may have lost it.
    const [discovered] = await Promise.all([discover(cluster, area, clusterName, shopNamespace), claim(cluster, plan)]);
    const chosen = chooseForAll(discovered, attacks);
    // A killed update may have marked others: with these on top, more would be attacked than the radius allows.
    await unmarkAll(cluster, namespace);
    try {
        for (const [index, { targets, matching }] of chosen.entries()) {
            const attack = attacks[index]!;
            for (const pod of targets) await mark(cluster, pod, markOf(plan, attack));
            const name = attacks.length === 1 ? "" : ` of ${attack.name}`;
            say(
                `Targets${name}: ${targets.map(({ pod, container }) => `${pod}/${container}`).join(", ")} (${describeRadius(attack.radius)} of ${matching} matching)`,
            );
        }
        return {
            attacks: chosen,
            control: await new AttackProofs(cluster, plan, process.env.DEADLINE_JOB!, chosen).control(),
        };
    } catch (error) {
        await unmarkAll(cluster, namespace);
        throw error;
    }
});

import { describeRadius } from "../../shared/radius";
import { kindOf } from "../attacks/attack";
import { claim } from "../claim";
import { AttackProof } from "../proof";
import { choose } from "../targets/choose";
import type { ChosenTargets } from "../targets/chosen";
import { discover } from "../targets/discover";
import { mark, unmarkAll } from "../targets/mark";
import { Witness } from "../witness";
import { runStep, say } from "./step";

/**
 * Chooses the targets and marks their pods with the label that the attack selects; then waits until the deadline's Job
 * has looked at them, since an attack that nobody could end or witness must not begin.
 */
runStep<ChosenTargets>(async (plan, cluster) => {
    const { area, clusterName, target, radius, attack, experiment, namespace, shopNamespace } = plan;
    // Claimed once more, since an update that slept in between may have lost it.
    const [discovered] = await Promise.all([discover(cluster, area, clusterName, shopNamespace), claim(cluster, plan)]);
    const chosen = choose(discovered, target, radius);
    // A killed update may have marked others: with these on top, more would be attacked than the radius allows.
    await unmarkAll(cluster, namespace, experiment);
    for (const pod of chosen.targets) await mark(cluster, pod, experiment);
    say(`Targets: ${chosen.targets.map(({ pod, container }) => `${pod}/${container}`).join(", ")} (${describeRadius(radius)} of ${chosen.matching} matching)`);
    try {
        const proof = kindOf(attack).proof(attack);
        const witness = new Witness(cluster, namespace, process.env.DEADLINE_JOB!, chosen.targets, proof.inward);
        const [, doubt] = await Promise.all([witness.begun(), new AttackProof(cluster, proof, chosen.targets, witness).control()]);
        return { ...chosen, doubt };
    } catch (error) {
        await unmarkAll(cluster, namespace, experiment);
        throw error;
    }
});

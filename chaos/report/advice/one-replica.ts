import type { V1DeploymentSpec } from "../../values/kubernetes-types";
import { attackKindOf } from "../../kinds/attacks/registry";
import { onePerPod } from "../../targets/pods";
import { containersWithin, type Radius } from "../../targets/radius";
import { type AdviceKind, patchCommand } from "./advice-kind";
import { describeOutage, spansWithoutReadyPod, wouldHold } from "./failed-answers";
import { stoppingGracefully } from "./stop-gracefully";

/**
 * The only pod was attacked and left its Service, and only the requests of that time decided the verdict. Nothing
 * follows if it stayed ready: its Service would lead to it even if there were others.
 */
export const oneReplica: AdviceKind = (journal, facts) => {
    const { attack, radius } = journal.plan.attacks[0]!;
    const { targets } = journal.attacks[0]!;
    const { name, spec, kubectl } = facts;
    const kind = attackKindOf(attack);
    const [pod, ...others] = onePerPod(targets);
    const replicas = leastReplicas(radius, targets.length);
    const isRemoved = kind.proof(attack).deleted ?? false;
    if (!isRemoved && kind.denies === undefined) return undefined;
    if (pod === undefined || others.length > 0 || (spec.replicas ?? 1) !== 1) return undefined;
    const stopping = isRemoved ? stoppingGracefully(facts) : { change: "" };
    if (replicas === undefined || stopping === undefined || !mayHaveMore(spec)) return undefined;
    const spans = spansWithoutReadyPod(journal, name);
    if (!wouldHold(journal, spans)) return undefined;
    return {
        seen: `Deployment ${name} had 1 replica, ${pod.pod}. Under attack, it had ` + describeOutage(journal, spans),
        change: `Run ${replicas} replicas, if several pods of ${name} may run at once${stopping.change}`,
        command: stopping.template
            ? patchCommand(facts, { replicas, template: stopping.template })
            : `${kubectl} scale deployment ${name} --replicas=${replicas}`,
    };
};

/** Whether nothing says that two pods must not run at once: they would share a volume, or the strategy forbids it. */
const mayHaveMore = ({ strategy, template }: V1DeploymentSpec): boolean =>
    strategy?.type !== "Recreate" &&
    !template.spec!.volumes?.some(({ persistentVolumeClaim, hostPath }) => persistentVolumeClaim ?? hostPath);

const maxReplicas = 10;

/** The least number of pods of which the radius spares one. @param containers of each pod that match */
function leastReplicas(radius: Radius, containers: number): number | undefined {
    for (let replicas = 2; replicas <= maxReplicas; replicas++)
        if (containersWithin(radius, replicas * containers) <= (replicas - 1) * containers) return replicas;
    return undefined;
}

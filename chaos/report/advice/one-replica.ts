import type { V1DeploymentSpec } from "../../values/kubernetes-types";
import { attackKindOf } from "../../kinds/attacks/registry";
import { onePerPod } from "../../targets/pods";
import { containersWithin, type Radius } from "../../targets/radius";
import { type AdviceKind, patchCommand, templateWith } from "./advice-kind";
import { describeOutage, spansWithoutReadyPod, wouldHold } from "./failed-answers";
import { stoppingGracefully } from "./stop-gracefully";

/**
 * The only pod was attacked and left its Service, and only the requests of that time decided the verdict. Nothing
 * follows if it stayed ready: its Service would lead to it even if there were others.
 */
export const oneReplica: AdviceKind = (journal, facts) => {
    const { attack, radius } = journal.plan.attacks[0]!;
    const { targets } = journal.attacks[0]!;
    const { name, spec, isScaled, kubectl } = facts;
    const kind = attackKindOf(attack);
    const [pod, ...others] = onePerPod(targets);
    const replicas = leastReplicas(radius, targets.length);
    const { deleted: isRemoved = false, stopped = false } = kind.proof(attack);
    if (!isRemoved && !stopped && kind.denies === undefined) return undefined;
    if (pod === undefined || others.length > 0 || (spec.replicas ?? 1) !== 1) return undefined;
    const stopping = isRemoved ? stoppingGracefully(facts) : { change: "", changes: undefined };
    if (replicas === undefined || stopping === undefined || isScaled || !mayHaveMore(spec)) return undefined;
    const { change, changes } = stopping;
    const spans = spansWithoutReadyPod(journal);
    if (!wouldHold(journal, spans)) return undefined;
    return {
        seen: `Deployment ${name} had 1 replica, ${pod.pod}. Under attack, it had ` + describeOutage(journal, spans),
        change: `Run ${replicas} replicas, if several pods of ${name} may run at once${change}`,
        command: changes
            ? patchCommand(facts, { replicas, template: templateWith(facts, changes) })
            : `${kubectl} scale deployment ${name} --replicas=${replicas}`,
    };
};

/**
 * Whether nothing says that two pods must not run at once: they would share a volume or the ports of a node, or the
 * strategy forbids it.
 */
function mayHaveMore({ strategy, template }: V1DeploymentSpec): boolean {
    const { volumes = [], containers, hostNetwork } = template.spec!;
    return (
        strategy?.type !== "Recreate" &&
        !hostNetwork &&
        !containers.some(({ ports }) => ports?.some(({ hostPort }) => hostPort)) &&
        !volumes.some(({ persistentVolumeClaim, hostPath }) => persistentVolumeClaim ?? hostPath)
    );
}

const maxReplicas = 10;

/** The least number of pods of which the radius spares one. @param containers of each pod that match */
function leastReplicas(radius: Radius, containers: number): number | undefined {
    for (let replicas = 2; replicas <= maxReplicas; replicas++)
        if (containersWithin(radius, replicas * containers) <= (replicas - 1) * containers) return replicas;
    return undefined;
}

import { beginsAtPeers, beginsAtTargets, controlsAtTargets } from "../attacks/kind";
import { attackKindOf } from "../attacks/registry";
import { resources, type Right, rightsOn } from "../cluster/resources";
import type { PlannedAttack } from "../definition/plan";
import { locateTarget } from "../targets/locate";

/**
 * What it takes to prove an attack from within containers: a connection is tried from where it begins.
 *
 * @param namespace of the targets
 */
export function rightsToProve({ attack }: PlannedAttack, namespace: string): Right[] {
    const proof = attackKindOf(attack).proof(attack);
    const ofPeers = "peers" in attack ? attack.peers : undefined;
    const peers = ofPeers && locateTarget(ofPeers, "Global", namespace).namespace;
    const ofTargets = rightToProbe(namespace, beginsAtTargets(proof), controlsAtTargets(proof));
    if (peers === undefined) return ofTargets;
    return [
        ...ofTargets,
        ...rightToProbe(peers, beginsAtPeers(proof), false),
        rightsOn({ namespace: peers, ...resources.pod })(
            ["list"],
            "find a label that tells the peers from all other pods",
            "the label is compared only with pods that experiments may attack: on Cilium, the attack may cut off " +
                "others, too",
        ),
    ];
}

/** @param isProof whether the proof needs it @param isControl whether only the positive control does */
function rightToProbe(namespace: string, isProof: boolean, isControl: boolean): Right[] {
    // Older Kubernetes versions check `get` for a WebSocket, newer ones also `create`.
    const exec = (why: string, without?: string) =>
        rightsOn({ namespace, resource: "pods/exec" })(["create", "get"], why, without);
    if (isProof) return [exec("prove the attacks from within containers")];
    if (!isControl) return [];
    const control = "try from within the targets what an attack must leave alone";
    return [exec(control, "that part of the positive control is left out")];
}

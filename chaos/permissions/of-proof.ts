import { beginsAtPeers, beginsAtTargets, controlsAtTargets } from "../attacks/begins-at";
import { attackKindOf } from "../attacks/registry";
import type { Right } from "../cluster/resources";
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
    return [
        ...rightToProbe(namespace, beginsAtTargets(proof), controlsAtTargets(proof)),
        ...(peers === undefined
            ? []
            : [
                  ...rightToProbe(peers, beginsAtPeers(proof), false),
                  {
                      namespace: peers,
                      resource: "pods",
                      verbs: ["list"],
                      why: "find a label that tells the peers from all other pods",
                      without:
                          "the label is compared only with pods that experiments may attack: on Cilium, the attack " +
                          "may cut off others, too",
                  },
              ]),
    ];
}

/** @param isProof whether the proof needs it @param isControl whether only the positive control does */
function rightToProbe(namespace: string, isProof: boolean, isControl: boolean): Right[] {
    // Older Kubernetes versions check `get` for a WebSocket, newer ones also `create`.
    const exec = { namespace, resource: "pods/exec", verbs: ["create", "get"] };
    if (isProof) return [{ ...exec, why: "prove the attacks from within containers" }];
    if (!isControl) return [];
    return [
        {
            ...exec,
            why: "try from within the targets what an attack must leave alone",
            without: "that part of the positive control is left out",
        },
    ];
}

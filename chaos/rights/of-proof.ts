import { beginsAtPeers, beginsAtTargets, controlsAtTargets } from "../kinds/attacks/attack-kind";
import { attackKindOf } from "../kinds/attacks/registry";
import { serviceNamed } from "../values/kubernetes-rules";
import { resources, type Right, rightsOn } from "../cluster/resources";
import type { PlannedAttack } from "../definition/plan";
import { peersOf } from "../targets/discover";
import { locateTarget } from "../targets/locate";

/**
 * What it takes to prove an attack from within containers: a connection is tried from where it begins.
 *
 * @param namespace of the targets
 */
export function rightsToProve({ attack, outward }: PlannedAttack, namespace: string): Right[] {
    const proof = attackKindOf(attack).proof(attack);
    const ofPeers = peersOf(attack);
    const peers = ofPeers && locateTarget(ofPeers, "Global", namespace).namespace;
    const ofTargets = beginsAtTargets(proof)
        ? toProve(namespace, outward === "unproven" ? "outward is proven of no target" : undefined)
        : controlsAtTargets(proof)
          ? toControl(namespace)
          : [];
    const services = (proof.addresses?.hosts ?? []).flatMap(({ host }) => serviceNamed(host, namespace) ?? []);
    const ofHosts = services.map(({ namespace, name }) =>
        rightsOn({ namespace, ...resources.service, names: [name] })(
            ["get"],
            "refuse a host of a blackhole that is a Service",
            "such a host is not refused, and the attack may not be proven",
        ),
    );
    if (peers === undefined) return [...ofTargets, ...ofHosts];
    return [
        ...ofTargets,
        ...(beginsAtPeers(proof) ? toProve(peers) : []),
        rightsOn({ namespace: peers, ...resources.pod })(
            ["list"],
            "find a label that only the peers have",
            "on Cilium, the attack may cut off pods that experiments may not attack",
        ),
    ];
}

const toProve = (namespace: string, without?: string) =>
    rightToRun(namespace, "prove the attacks from within containers", without);

const toControl = (namespace: string) =>
    rightToRun(
        namespace,
        "try from within the targets what an attack must leave alone",
        "that part of the positive control is left out",
    );

// Older Kubernetes versions check `get` for a WebSocket, newer ones also `create`.
const rightToRun = (namespace: string, why: string, without?: string): Right[] => [
    rightsOn({ namespace, resource: "pods/exec" })(["create", "get"], why, without),
];

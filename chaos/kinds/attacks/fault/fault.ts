import { otherResources, resources, type Right, rightsIn } from "../../../cluster/resources";
import type { AttackKind } from "../attack-kind";
import { admitProxy, beginCounting, pointToProxy, proxyReady } from "./begin";
import { type FaultAttack, faultOf } from "./fault-attack";
import { contradictionsOf, faultSchema } from "./fields";
import { connectionsOf, findService, type FoundService } from "./find";
import { bindings } from "./outside";
import { explainFault, readCounts, reportedOf } from "./proof";
import { whyShowsNothing } from "./shows-nothing";
import { describeFault } from "./words";

export const fault: AttackKind<FaultAttack, FoundService> = {
    schema: faultSchema,
    examples: [{ kind: "fault", service: "FAULTED", delay: "2s" }],
    mistake: contradictionsOf,
    describe: (attack) => describeFault(faultOf(attack)),
    onlyReady: true,
    proof: () => ({}),
    // The proxy, and the Service that keeps what led to the pods before.
    object: resources.pod,
    parts: [resources.service],
    restores: { resource: resources.service, named: "service" },
    rights,
    forJob: faultOf,
    rightsInJob: (proxy) =>
        rightsIn()("get", resources.service, proxy).to("know what a fault's Service selected before"),
    find: (attack, cluster, namespace) => findService(cluster, namespace, attack),
    admit: admitProxy,
    connects: connectionsOf,
    // This is usual for a pod whose image is on its node.
    readyMs: 10_000,
    ready: proxyReady,
    begin: pointToProxy,
    beginCounting,
    windowMs(attack) {
        const { onMs = 0, offMs = 0 } = faultOf(attack).pulse ?? {};
        return onMs + offMs;
    },
    reported: reportedOf,
    explain: explainFault,
    count: readCounts,
    whyNothing: (attack, counts) => whyShowsNothing(faultOf(attack), counts),
};

function rights(namespace: string): Right[] {
    const here = rightsIn(namespace);
    return [
        rightsIn()("list", resources.networkPolicy).to(
            "refuse faults that would cut off callers in other namespaces",
            "they are not refused",
        ),
        here("list", ...bindings).to(
            "refuse Services whose pods an AWS load balancer has as targets",
            "only annotations and readiness gates show that",
        ),
        here("get", otherResources.namespace, namespace).to("find the NetworkPolicies that a fault's callers need"),
        here("list watch", otherResources.endpointSlice).to("grant a fault's proxy its rights"),
    ].flat();
}

import * as k8s from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { annotations, labels } from "../cluster/labels";
import type { Chosen } from "../targets/choose";
import { denying, isTotal, type Peers, peersIn } from "../policies/denial";
import { killRequest, objectTypeOf } from "./objects";
import { type Attack, attackKindOf } from "./registry";

export interface AttackResourceArgs {
    attack: Attack;
    experiment: string;
    namespace: string;
    /** Name of the object: each run has its own. */
    object: pulumi.Output<string>;
    targetLabel: string;
    /** Known once the deadline Job watches the targets. */
    chosen: pulumi.Output<Chosen>;
}

/** An attack as a resource: a NetworkPolicy that selects the labeled pods, or the request to kill them. */
export function attackResource(
    name: string,
    args: AttackResourceArgs,
    opts?: pulumi.CustomResourceOptions,
): k8s.networking.v1.NetworkPolicy | k8s.core.v1.ConfigMap {
    const { attack, experiment, namespace, object, targetLabel, chosen } = args;
    const kind = attackKindOf(attack);
    const metadata = {
        name: object,
        namespace,
        labels: { [labels.experiment]: experiment },
        annotations: { [annotations.targets]: chosen.apply(({ targets }) => targets.map(({ pod }) => pod).join(",")) },
    };
    const ownOpts = { ...opts, deleteBeforeReplace: true };
    if (objectTypeOf(attack) === killRequest)
        return new k8s.core.v1.ConfigMap(name, { metadata, immutable: true }, ownOpts);
    const denial = kind.denies!(attack);
    // Where other policies apply, a policy that allows the rest would allow more than they do: their pods have another.
    const unlessCombined = { matchExpressions: [{ key: labels.combined, operator: "DoesNotExist" }] };
    const podSelector = { matchLabels: { [labels.target]: targetLabel }, ...(!isTotal(denial) && unlessCombined) };
    const specOf = (peers: Peers) => ({ podSelector, ...denying(denial, peers, namespace) });
    // Without peers, a preview can show the whole policy.
    const spec = denial.withPeers ? chosen.apply((found) => specOf(peersIn(found))) : specOf({ pods: [] });
    // Another version may write other rules. An update of a run that is over would create its policy again; the next
    // run has another name and gets them.
    return new k8s.networking.v1.NetworkPolicy(name, { metadata, spec }, { ...ownOpts, ignoreChanges: ["spec"] });
}

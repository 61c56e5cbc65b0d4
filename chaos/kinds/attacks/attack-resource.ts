import * as k8s from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { annotations, labels, metadataFor, targetLabels } from "../../cluster/labels";
import { denying, isTotal, type Peers, peersIn } from "../../policies/denial";
import { faultDryRuns, faultResources } from "./fault/resources";
import type { AttackResourceArgs, DryRun, DryRunArgs } from "./attack-kind";
import { type Attack, attackKindOf, type OtherKind } from "./registry";

type Make = (name: string, args: AttackResourceArgs<never>, opts: pulumi.CustomResourceOptions) => AttackResource;
type AttackResource = k8s.networking.v1.NetworkPolicy | k8s.core.v1.ConfigMap | k8s.core.v1.Pod;

/** The kinds that are no NetworkPolicies. */
const others: Readonly<Record<OtherKind, Make>> = {
    fail: request,
    fault: faultResources,
    kill: request,
    stress: request,
};

/** The kinds that make pods, or other objects that a quota may leave no room for. */
const dryRuns: Readonly<Partial<Record<Attack["kind"], (name: string, args: DryRunArgs<never>) => DryRun[]>>> = {
    fault: faultDryRuns,
};

/** Objects of an attack that are tried by a dry run before anything is touched. */
export const attackDryRuns = (name: string, args: DryRunArgs<Attack>): DryRun[] =>
    dryRuns[args.attack.kind]?.(name, args as DryRunArgs<never>) ?? [];

/** The resource that is an attack: while its object exists, the attack lasts. */
export function attackResource(
    name: string,
    args: Omit<AttackResourceArgs<Attack>, "metadata">,
    opts: pulumi.CustomResourceOptions,
): AttackResource {
    const { attack, object, chosen } = args;
    const make = attack.kind in others ? others[attack.kind as OtherKind] : policy;
    const targets = chosen.apply((found) => found.targets.map(({ pod }) => pod).join(","));
    const metadata = {
        ...metadataFor(object, args),
        annotations: { [annotations.targets]: targets },
    };
    const made: AttackResourceArgs<Attack> = { ...args, metadata };
    return make(name, made as AttackResourceArgs<never>, { ...opts, deleteBeforeReplace: true });
}

/** A request to the deadline Job. */
function request(name: string, { metadata, chosen }: AttackResourceArgs<Attack>, opts: pulumi.CustomResourceOptions) {
    // What an earlier version has asked for is immutable, and stays as it is: it had no `atFirst`.
    const data = chosen.apply(({ nodes, atFirst, tried }): Record<string, string> | undefined => {
        const said = {
            ...(nodes && { nodes: nodes.join() }),
            ...(atFirst && { atFirst: String(atFirst) }),
            ...(tried !== undefined && { tried: JSON.stringify(tried) }),
        };
        return Object.keys(said).length > 0 ? said : undefined;
    });
    return new k8s.core.v1.ConfigMap(
        name,
        { metadata, data: data as pulumi.Output<Record<string, string>>, immutable: true },
        opts,
    );
}

function policy(name: string, args: AttackResourceArgs<Attack>, opts: pulumi.CustomResourceOptions) {
    const { attack, namespace, label, chosen, metadata } = args;
    const denial = attackKindOf(attack).denies!(attack);
    // Where other policies apply, a policy that allows the rest would allow more than they do: their pods have another.
    const unlessCombined = { matchExpressions: [{ key: labels.combined, operator: "DoesNotExist" }] };
    // The targets that an earlier version has chosen lack it.
    const chosenBy = chosen.apply((found) => found.chosenBy) as pulumi.Output<string>;
    const podSelector = { matchLabels: targetLabels(label, chosenBy), ...(!isTotal(denial) && unlessCombined) };
    const specOf = (peers: Peers) => ({ podSelector, ...denying(denial, peers, namespace) });
    // If the attack has no peers, a preview can show what the policy denies.
    const spec = denial.withPeers ? chosen.apply((found) => specOf(peersIn(found))) : specOf({ pods: [] });
    // Another version may write other rules. An update of a run that is over would create its policy again; the next
    // run has another name and gets them.
    const own = { ...opts, ignoreChanges: ["spec"] };
    return new k8s.networking.v1.NetworkPolicy(name, { metadata, spec }, own);
}

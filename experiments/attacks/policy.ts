import * as k8s from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { annotations, labels } from "../../shared/labels";
import { type Attack, kindOf } from "./attack";

export interface AttackPolicyArgs {
    attack: Attack;
    experiment: string;
    namespace: string;
    /** Names the attack's object: another run has another one. */
    policy: string;
    /** The pods that are marked, for people who look at the policy. Known once the deadline's Job watches them. */
    targets: pulumi.Input<string>;
}

/** An attack as a NetworkPolicy that selects the marked pods. */
export class AttackPolicy extends k8s.networking.v1.NetworkPolicy {
    constructor(name: string, { attack, experiment, namespace, policy, targets }: AttackPolicyArgs, opts?: pulumi.CustomResourceOptions) {
        super(
            name,
            {
                metadata: { name: policy, namespace, labels: { [labels.experiment]: experiment }, annotations: { [annotations.targets]: targets } },
                spec: { podSelector: { matchLabels: { [labels.target]: experiment } }, ...kindOf(attack).rules!(attack) },
            },
            { ...opts, deleteBeforeReplace: true },
        );
    }
}

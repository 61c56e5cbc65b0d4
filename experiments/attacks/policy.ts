import * as k8s from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { annotations, labels } from "../../shared/labels";
import { type Attack, kindOf } from "./attack";

export interface AttackObjectArgs {
    attack: Attack;
    experiment: string;
    namespace: string;
    /** Names the object: another run has another one. */
    object: string;
    /** What the targets' pods are marked with. */
    mark: string;
    /** The pods that are marked, for people who look at the object. Known once the deadline's Job watches them. */
    targets: pulumi.Input<string>;
}

/** An attack as a NetworkPolicy that selects the marked pods. */
export class AttackPolicy extends k8s.networking.v1.NetworkPolicy {
    constructor(name: string, { attack, experiment, namespace, object, mark, targets }: AttackObjectArgs, opts?: pulumi.CustomResourceOptions) {
        super(
            name,
            {
                metadata: { name: object, namespace, labels: { [labels.experiment]: experiment }, annotations: { [annotations.targets]: targets } },
                spec: { podSelector: { matchLabels: { [labels.target]: mark } }, ...kindOf(attack).rules!(attack) },
            },
            { ...opts, deleteBeforeReplace: true },
        );
    }
}

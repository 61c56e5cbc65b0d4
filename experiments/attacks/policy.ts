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
    /** Addresses of the pods that the attack's peers are, where it has peers. Known when the targets are. */
    peers?: pulumi.Output<string[]>;
}

/** An attack as a NetworkPolicy that selects the marked pods. */
export class AttackPolicy extends k8s.networking.v1.NetworkPolicy {
    constructor(
        name: string,
        { attack, experiment, namespace, object, mark, targets, peers }: AttackObjectArgs,
        opts?: pulumi.CustomResourceOptions,
    ) {
        super(
            name,
            {
                metadata: {
                    name: object,
                    namespace,
                    labels: { [labels.experiment]: experiment },
                    annotations: { [annotations.targets]: targets },
                },
                spec: peers ? peers.apply((addresses) => specOf(attack, mark, addresses)) : specOf(attack, mark),
            },
            { ...opts, deleteBeforeReplace: true },
        );
    }
}

function specOf(
    attack: Attack,
    mark: string,
    peers?: readonly string[],
): k8s.types.input.networking.v1.NetworkPolicySpec {
    return { podSelector: { matchLabels: { [labels.target]: mark } }, ...kindOf(attack).rules!(attack, peers) };
}

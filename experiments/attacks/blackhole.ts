import * as k8s from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { annotations, labels } from "../../shared/labels";

export interface BlackholeArgs {
    experiment: string;
    namespace: string;
    /** Names the policy: another run has another one. */
    policy: string;
    /** The pods that are marked, for people who look at the policy. Known once the deadline's Job watches them. */
    targets: pulumi.Input<string>;
}

/**
 * Cuts the marked pods off the network: a NetworkPolicy that selects them and allows nothing, neither in nor out. The
 * pod's own node is exempt by the NetworkPolicy specification, which is why the kubelet's probes still reach it.
 */
export class Blackhole extends k8s.networking.v1.NetworkPolicy {
    constructor(name: string, { experiment, namespace, policy, targets }: BlackholeArgs, opts?: pulumi.CustomResourceOptions) {
        super(
            name,
            {
                metadata: { name: policy, namespace, labels: { [labels.experiment]: experiment }, annotations: { [annotations.targets]: targets } },
                spec: { podSelector: { matchLabels: { [labels.target]: experiment } }, policyTypes: ["Ingress", "Egress"] },
            },
            { ...opts, deleteBeforeReplace: true },
        );
    }
}

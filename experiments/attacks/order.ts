import * as k8s from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { annotations, labels } from "../../shared/labels";
import type { AttackObjectArgs } from "./policy";

/** An attack that the deadline's Job carries out: for as long as this ConfigMap is there, and the deadline allows. */
export class AttackOrder extends k8s.core.v1.ConfigMap {
    constructor(
        name: string,
        { experiment, namespace, object, targets }: AttackObjectArgs,
        opts?: pulumi.CustomResourceOptions,
    ) {
        const metadata = {
            name: object,
            namespace,
            labels: { [labels.experiment]: experiment },
            annotations: { [annotations.targets]: targets },
        };
        super(name, { metadata, immutable: true }, { ...opts, deleteBeforeReplace: true });
    }
}

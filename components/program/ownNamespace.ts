import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { annotations } from "../../shared/labels";

/** A namespace with the name of the stack that it is of: another stack that wants it runs into a conflict, and takes nothing over. */
export function ownNamespace(name: string, labels: Record<string, string>, opts: pulumi.CustomResourceOptions): k8s.core.v1.Namespace {
    const metadata = { name, labels: { ...labels, "app.kubernetes.io/part-of": "chaos-shop" }, annotations: { [annotations.stack]: pulumi.getStack() } };
    return new k8s.core.v1.Namespace(name, { metadata }, opts);
}

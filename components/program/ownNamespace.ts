import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { annotations } from "../../shared/labels";

/** How the objects of a namespace are made: by this program, from a chart, or from a manifest. */
export type Install = "program" | "chart" | "manifest";

/**
 * A namespace with the name of the stack that it is of: another stack that wants it runs into a conflict, and takes nothing over.
 *
 * @param install another way of installing makes the namespace anew. First all goes that was in it, since of objects
 *   with the same name the engine would remove the old one only after it has made the new one. @default "program"
 */
export function ownNamespace(
    name: string,
    labels: Record<string, string>,
    opts: pulumi.CustomResourceOptions,
    install: Install = "program",
): k8s.core.v1.Namespace {
    const marks = {
        [annotations.stack]: pulumi.getStack(),
        ...(install !== "program" && { [annotations.install]: install }),
    };
    const metadata = { name, labels: { ...labels, "app.kubernetes.io/part-of": "chaos-shop" }, annotations: marks };
    return new k8s.core.v1.Namespace(
        name,
        { metadata },
        { ...opts, deleteBeforeReplace: true, replaceOnChanges: [`metadata.annotations["${annotations.install}"]`] },
    );
}

/** How the objects of a stack's namespace were made, by its annotations; undefined where it is of no stack. */
export function installOf(found: Record<string, string> = {}): Install | undefined {
    return annotations.stack in found ? ((found[annotations.install] ?? "program") as Install) : undefined;
}

import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { annotations } from "../cluster/marks";
import type { Install } from "../configuration/settings";

export interface OwnNamespaceArgs {
    /** The stack's; see `StackCluster`. @default none: the name alone says whose it is */
    identity?: pulumi.Input<string>;
    labels: Record<string, string>;
    /**
     * Changing it replaces the namespace. The old one is deleted first: otherwise the engine would delete the old
     * objects only after it created new ones of the same names. @default "program"
     */
    install?: Install;
    /** Whether it outlives the stack: deleting it would delete its PersistentVolumeClaims. @default false */
    keep?: boolean;
}

/**
 * A namespace whose annotations name its stack. Another stack that creates it, with another name or identity, fails
 * with a conflict.
 */
export function ownNamespace(
    name: string,
    { identity, labels, install = "program", keep = false }: OwnNamespaceArgs,
    opts: pulumi.CustomResourceOptions,
): k8s.core.v1.Namespace {
    const metadata = {
        name,
        labels: { ...labels, "app.kubernetes.io/part-of": "chaos-shop" },
        annotations: {
            [annotations.stack]: pulumi.getStack(),
            ...(identity !== undefined && { [annotations.identity]: identity }),
            ...(install !== "program" && { [annotations.install]: install }),
            ...(keep && { [annotations.kept]: "true" }),
        },
    };
    return new k8s.core.v1.Namespace(
        name,
        { metadata },
        {
            ...opts,
            ...(keep && { retainOnDelete: true }),
            deleteBeforeReplace: true,
            replaceOnChanges: [`metadata.annotations["${annotations.install}"]`],
        },
    );
}

/** What installed the objects of a namespace, by its annotations. Undefined if it belongs to no stack. */
export function installOf(found: Record<string, string> = {}): Install | undefined {
    return annotations.stack in found ? ((found[annotations.install] ?? "program") as Install) : undefined;
}

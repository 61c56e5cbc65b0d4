import type { V1StorageClass } from "../../chaos/values/kubernetes-types";
import { type Cluster, unlessForbidden } from "../../chaos/cluster/client";
import { pulumiCommand, setCommand } from "../pulumi-command";
import { otherResources } from "../../chaos/cluster/resources";

/** Whether Kubernetes uses the class for PersistentVolumeClaims that name none. */
const isDefault = ({ metadata }: V1StorageClass) =>
    metadata?.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true";

/**
 * Checks that the PersistentVolumeClaims' StorageClass exists: otherwise they would stay Pending until the update's
 * limit. Passes if the user may not list the classes.
 *
 * @param wanted the stack's `storage.class`; undefined for the cluster's default
 * @throws Error that lists the classes
 */
export async function checkStorageClass(cluster: Cluster, wanted: string | undefined): Promise<void> {
    const found = await unlessForbidden(cluster.all(otherResources.storageClass));
    const mistake = found && missingClass(found, wanted);
    if (mistake !== undefined) throw new Error(mistake);
}

/** Why claims of a class, or of the default one, would stay Pending. Undefined if they would not. */
export function missingClass(classes: readonly V1StorageClass[], wanted: string | undefined): string | undefined {
    const names = classes.map(({ metadata }) => metadata!.name!);
    if (wanted === undefined ? classes.some(isDefault) : names.includes(wanted)) return undefined;
    const found =
        wanted === undefined
            ? "storage.class is not set, and the cluster has no default class"
            : `storage.class is "${wanted}", which the cluster does not have`;
    const [suggested] = classes
        .filter(isDefault)
        .map(({ metadata }) => metadata!.name!)
        .concat(names);
    if (suggested === undefined)
        return (
            `${found}; it has none at all: install one, or use no claims: ` +
            ["database", "broker"].map((part) => pulumiCommand(["config", "rm", `${part}.storage`])).join("; ")
        );
    const fix = setCommand("storage.class", suggested);
    return `${found}; allowed: ${names.join(", ")}. Nothing was touched.\n  fix it with: ${fix}`;
}

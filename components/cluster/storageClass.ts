import type { V1StorageClass } from "@kubernetes/client-node";
import { type Cluster, statusOf } from "../../shared/kubernetes";

/** Kubernetes' mark of the class that a claim without one gets. */
const isDefault = ({ metadata }: V1StorageClass) =>
    metadata?.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true";

/**
 * Makes sure that claims will find their storage class, since one that does not stays Pending for as long as its pod is
 * waited for. Who may not list the classes is not kept from using them.
 *
 * @param wanted what the stack's `storage.class` says; undefined for the cluster's default
 * @throws Error that lists the classes that there are
 */
export async function checkStorageClass({ storage }: Cluster, wanted: string | undefined): Promise<void> {
    const classes = await storage.listStorageClass().then(
        ({ items }) => items,
        (error: unknown) => {
            if (statusOf(error) === 403) return undefined;
            throw error;
        },
    );
    const mistake = classes && missingClass(classes, wanted);
    if (mistake !== undefined) throw new Error(mistake);
}

/** Why claims of a class, or of the default one, would not be bound; undefined where nothing keeps them from it. */
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
    return suggested === undefined
        ? `${found}; it has none at all: install one, or do without claims: pulumi config rm database.storage; pulumi config rm broker.storage`
        : `${found}; allowed: ${names.join(", ")}. Nothing was touched.\n  mend it with: pulumi config set storage.class ${suggested}`;
}

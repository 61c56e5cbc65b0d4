/** Who has set a field of an object's `spec`: what a run changes for a while is given back to its owners. */
import type { V1ManagedFieldsEntry, V1ObjectMeta } from "@kubernetes/client-node";
import { fieldManager } from "./labels";

/** By server-side apply or otherwise. */
export type Owner = Pick<V1ManagedFieldsEntry, "manager" | "operation" | "apiVersion" | "subresource">;

/** A field of `spec` that has an owner as a whole. */
type Field = "selector" | "podSelector";

/** Which fields somebody has set, as in `managedFields`. */
type Fields = Record<"f:spec", Record<string, object> | undefined>;

const has = ({ fieldsV1 }: V1ManagedFieldsEntry, field: Field) =>
    (fieldsV1 as Fields | undefined)?.["f:spec"]?.[`f:${field}`] !== undefined;

export const ownersOf = ({ managedFields = [] }: V1ObjectMeta, field: Field): Owner[] =>
    managedFields
        .filter((entry) => has(entry, field))
        .map(({ manager, operation, apiVersion, subresource }) => ({ manager, operation, apiVersion, subresource }));

/** Whether this package owns a field: it has set it, and not given it back. */
export const isOurs = ({ managedFields = [] }: V1ObjectMeta, field: Field): boolean =>
    managedFields.some((entry) => has(entry, field) && entry.manager === fieldManager);

/** Whether somebody but this package and the earlier owners owns a field. */
export const isNewOwners = ({ managedFields = [] }: V1ObjectMeta, field: Field, owners: readonly Owner[]): boolean =>
    managedFields.some(
        (entry) => has(entry, field) && entry.manager !== fieldManager && !owners.some(isSameOwner(entry)),
    );

const isSameOwner = (owner: Owner) => (another: Owner) =>
    (["manager", "operation", "apiVersion", "subresource"] as const).every((key) => another[key] === owner[key]);

/**
 * The `managedFields` by which a field belongs to its owners again, and nothing to this package: else their next
 * server-side apply would meet a conflict, also while what this package has set still stands. If others own it by now,
 * it stays theirs.
 */
export function givenBack(metadata: V1ObjectMeta, field: Field, owners: readonly Owner[]): V1ManagedFieldsEntry[] {
    const others = (metadata.managedFields ?? []).filter(({ manager }) => manager !== fieldManager);
    if (others.some((entry) => has(entry, field))) return others;
    const kept = others.map((entry) => (owners.some(isSameOwner(entry)) ? owning(entry, field) : entry));
    // An owner of nothing else has no entry any more.
    const lost = owners.filter((owner) => !others.some(isSameOwner(owner)));
    return [...kept, ...lost.map((owner) => owning({ ...owner, fieldsType: "FieldsV1" }, field))];
}

function owning(entry: V1ManagedFieldsEntry, field: Field): V1ManagedFieldsEntry {
    const fields = entry.fieldsV1 as Fields | undefined;
    return { ...entry, fieldsV1: { ...fields, "f:spec": { ...fields?.["f:spec"], [`f:${field}`]: {} } } };
}

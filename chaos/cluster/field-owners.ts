/** Who owns a field, by what the API server keeps of that in `managedFields`. */
import type { V1ManagedFieldsEntry, V1ObjectMeta } from "../values/kubernetes-types";
import { fieldManager } from "./labels";

/** Who has set a field, by server-side apply or otherwise. */
export type Owner = Pick<V1ManagedFieldsEntry, "manager" | "operation" | "apiVersion" | "subresource">;

/** Which fields somebody has set, as in `managedFields`. */
type Fields = Record<"f:spec", Record<string, object> | undefined>;

const has = ({ fieldsV1 }: V1ManagedFieldsEntry, field: string) =>
    (fieldsV1 as Fields | undefined)?.["f:spec"]?.[`f:${field}`] !== undefined;

/** Who has set a field, but for this package. */
export const ownersOf = ({ managedFields = [] }: V1ObjectMeta, field: string): Owner[] =>
    managedFields
        .filter((entry) => has(entry, field) && entry.manager !== fieldManager)
        .map(({ manager, operation, apiVersion, subresource }) => ({ manager, operation, apiVersion, subresource }));

/** Who has set a field last. Undefined if the API server does not say. */
export function setterOf({ managedFields = [] }: V1ObjectMeta, field: string): Owner | undefined {
    const at = ({ time }: V1ManagedFieldsEntry) => new Date(time ?? 0).getTime();
    const entries = managedFields.filter((entry) => has(entry, field));
    return entries.sort((a, b) => at(b) - at(a))[0];
}

/** Whether this package owns a field: it has set it, and not given it back. */
export const isOurs = ({ managedFields = [] }: V1ObjectMeta, field: string): boolean =>
    managedFields.some((entry) => has(entry, field) && entry.manager === fieldManager);

/** Those that own a field by now, but for this package and the earlier owners. */
export const newOwners = (metadata: V1ObjectMeta, field: string, owners: readonly Owner[]): Owner[] =>
    ownersOf(metadata, field).filter((owner) => !owners.some(isSameOwner(owner)));

const isSameOwner = (owner: Owner) => (another: Owner) =>
    (["manager", "operation", "apiVersion", "subresource"] as const).every((key) => another[key] === owner[key]);

/** The `managedFields` by which a field is not this package's, and its earlier owners' again unless others own it. */
export function givenBack(metadata: V1ObjectMeta, field: string, owners: readonly Owner[]): V1ManagedFieldsEntry[] {
    const others = (metadata.managedFields ?? []).filter(({ manager }) => manager !== fieldManager);
    if (others.some((entry) => has(entry, field))) return others;
    const kept = others.map((entry) => (owners.some(isSameOwner(entry)) ? owning(entry, field) : entry));
    // An owner of nothing else has no entry any more.
    const lost = owners.filter((owner) => !others.some(isSameOwner(owner)));
    return [...kept, ...lost.map((owner) => owning({ ...owner, fieldsType: "FieldsV1" }, field))];
}

function owning(entry: V1ManagedFieldsEntry, field: string): V1ManagedFieldsEntry {
    const fields = entry.fieldsV1 as Fields | undefined;
    return { ...entry, fieldsV1: { ...fields, "f:spec": { ...fields?.["f:spec"], [`f:${field}`]: {} } } };
}

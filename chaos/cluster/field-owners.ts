/** Fields that a run changes for a while, and then gives back to who had set them. Pure patches. */
import type { V1ManagedFieldsEntry, V1ObjectMeta } from "../values/kubernetes-types";
import { isDeepStrictEqual } from "node:util";
import { fieldManager, noteIn } from "./labels";
import type { KubeObject } from "./resources";

/** Who has set a field, by server-side apply or otherwise. */
export type Owner = Pick<V1ManagedFieldsEntry, "manager" | "operation" | "apiVersion" | "subresource">;

/** What a selector was before a run: all that restoring needs. */
interface SelectorNote<S> {
    /** Name of the run. */
    run: string;
    selector: S;
    owners: Owner[];
    /** The selector of the manifest that kubectl had applied last. Absent if it had applied none. */
    applied?: S;
}

/**
 * A selector that a run changes, and restores. Each takes two merge patches: the first sets the selector, by which the
 * API server takes the field for this package's. The second gives the field back to who had set it before. So their
 * next server-side apply has no conflict, also while the run's selector still stands.
 *
 * @param annotation notes on the object what was there before, as JSON
 */
export class BorrowedSelector<S extends object> {
    constructor(
        private readonly field: "selector" | "podSelector",
        private readonly annotation: string,
    ) {}

    /** Whether a run has changed the selector, and nobody has restored it. */
    readonly isNoted = ({ metadata }: KubeObject): boolean => metadata?.annotations?.[this.annotation] !== undefined;

    /** What was there before. Undefined if that is not noted, or somebody has edited the note. */
    noteOf(object: KubeObject): SelectorNote<S> | undefined {
        const note = noteIn<SelectorNote<S>>(object, this.annotation);
        return note.run && note.selector && note.owners ? (note as SelectorNote<S>) : undefined;
    }

    /** The selector of the manifest that was applied last by a client-side `kubectl apply`, which notes it. */
    appliedIn(object: KubeObject): S | undefined {
        const { spec } = noteIn<{ spec: Partial<Record<string, S>> }>(object, lastApplied);
        return spec?.[this.field];
    }

    /** The first patch that changes it. @param set the merge patch of the selector */
    setting({ metadata }: KubeObject, run: string, selector: S, set: object): object {
        const applied = this.appliedIn({ metadata });
        const note: SelectorNote<S> = { run, selector, owners: ownersOf(metadata!, this.field), applied };
        return this.patch(metadata!, { annotations: { [this.annotation]: JSON.stringify(note) } }, set);
    }

    /** The second patch that changes it. Undefined if there is nothing to give back. */
    givingBack(object: KubeObject): object | undefined {
        const metadata = object.metadata!;
        const { owners } = this.noteOf(object) ?? {};
        if (owners === undefined || !isOurs(metadata, this.field)) return undefined;
        return this.patch(metadata, { managedFields: givenBack(metadata, this.field, owners) });
    }

    /**
     * The next patch that restores it. Undefined if there is nothing to restore.
     *
     * @param set the merge patch of the selector. Undefined if it is not the run's any more: what somebody else has set
     *   since stays as it is
     */
    restoring(object: KubeObject, set: object | undefined): object | undefined {
        const metadata = object.metadata!;
        if (set) return this.patch(metadata, {}, set);
        if (!this.isNoted(object)) return undefined;
        const { selector, owners = [] } = this.noteOf(object) ?? {};
        const isRestored = isDeepStrictEqual((object.spec as Partial<Record<string, S>>)[this.field] ?? {}, selector);
        return this.patch(metadata, {
            annotations: { [this.annotation]: null },
            managedFields: givenBack(metadata, this.field, isRestored ? owners : []),
        });
    }

    private patch({ resourceVersion }: V1ObjectMeta, metadata: object, set?: object): object {
        return { metadata: { resourceVersion, ...metadata }, ...(set && { spec: { [this.field]: set } }) };
    }
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

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
export const newOwners = ({ managedFields = [] }: V1ObjectMeta, field: string, owners: readonly Owner[]): Owner[] =>
    managedFields.filter(
        (entry) => has(entry, field) && entry.manager !== fieldManager && !owners.some(isSameOwner(entry)),
    );

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

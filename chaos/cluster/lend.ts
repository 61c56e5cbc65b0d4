/**
 * How a run borrows fields of other people's objects, and gives them back as their owners last wanted them, also if
 * these have edited them meanwhile. Update, sweep and deadline Job share it. Each way takes two patches:
 *
 * |         | first                                          | second                                              |
 * | ------- | ---------------------------------------------- | --------------------------------------------------- |
 * | lend    | sets the run's value, and notes what was there | makes the field its owners' again, with that value  |
 * | restore | sets what its owners want by now               | removes the note, makes the field its owners' again |
 *
 * By the first, the API server takes the field for this package's. Since the second gives it back (`field-owners.ts`),
 * the next server-side apply of its owners has no conflict, also during the run. A patch names the `resourceVersion`
 * that was read: the API server rejects it (409) if somebody has changed the object since, and `change` tries again.
 *
 * What is borrowed: the selector of a Service (`kinds/attacks/fault/pointing.ts`), the `podSelector` of a NetworkPolicy
 * (`policies/exemption.ts`), a number or a flag of a workload (`kinds/actions/set-field.ts`), and the images of a pod's
 * containers (`kinds/attacks/fail/image.ts`).
 */
import { isDeepStrictEqual } from "node:util";
import { change } from "./change";
import { givenBack, isOurs, type Owner, ownersOf } from "./field-owners";
import { noteIn } from "./labels";
import type { KubeObject, ObjectApi, ObjectReference, Patching, Resource } from "./resources";

/** What a note on an object says of a field that a run has changed. */
export interface Note<V> {
    /** Name of the run. */
    run: string;
    /** What was there before. */
    before: V;
    /** What the run has set. Some notes do not keep it. */
    set?: V;
    /** Whose the field was. Some notes do not keep it. */
    owners?: Owner[];
    /** What the manifest had that kubectl had applied last. Absent if it had applied none. */
    applied?: V;
}

/** How notes of a field are kept. Other versions of this package read them, too. */
export interface Notes<V> {
    /** What one says: less, or nothing, if somebody has edited it. Undefined if there is none. */
    read(object: KubeObject): Partial<Note<V>> | undefined;
    /** The metadata with it. @throws Error if a value would not be restored as it is */
    written(object: KubeObject, note: Note<V>): object;
    /** The metadata without it. */
    erased(object: KubeObject): object;
}

/** A field of `spec` that runs borrow. */
export interface Loan<V = unknown> {
    field: string;
    notes: Notes<V>;
    /** The type of the objects that have it. @default several types have it */
    resource?: Resource;
    /** Set if a part of each entry of a list is borrowed. @default the field is borrowed as a whole */
    ofEntries?: {
        read(object: KubeObject): V;
        /** What a strategic merge patch has of the entries, which it merges by name. */
        written(to: V): readonly { name: string }[];
    };
    /** What its owners want by now; what is there, if there is nothing to restore. @param kept see `keeperOf` */
    wanted(object: KubeObject, kept?: KubeObject): V;
    /** Whether a run has changed an object, and nobody has restored it. @default its note is there */
    isLent?(object: KubeObject): boolean;
    /** Name of an object of the same type that keeps what was there before. @default none is needed */
    keeperOf?(object: KubeObject): string | undefined;
    /** What stays of an object as somebody else has set it since, in words. @default nothing does */
    left?(object: KubeObject, kind: string): string | undefined;
}

/** What the API server takes an absent field for. */
const absent: Readonly<Record<string, unknown>> = { replicas: 1, selector: {}, podSelector: {} };

export const valueIn = <V>({ spec }: KubeObject, field: string): V =>
    ((spec as Record<string, V> | undefined)?.[field] ?? absent[field]) as V;

/** What an object has of what is borrowed. */
const lentIn = <V>({ ofEntries, field }: Loan<V>, object: KubeObject): V =>
    ofEntries?.read(object) ?? valueIn<V>(object, field);

export const isLent = (loan: Loan, object: KubeObject): boolean =>
    loan.isLent?.(object) ?? loan.notes.read(object) !== undefined;

/** What a run sets. `value` throws an error if the object, as it is now, must not be changed. */
export interface Lent<V> {
    run: string;
    value(object: KubeObject): V;
}

/** Lends a field to a run. @param known the object, if it was read before @returns false if it does not exist */
export const lend = <V>(api: ObjectApi, object: ObjectReference, loan: Loan<V>, lent: Lent<V>, known?: KubeObject) =>
    change(api, object, (current, before) => lending(loan, lent, current, before), { known, ...howToPatch(loan) });

/** How the patches of a loan are meant. */
export const howToPatch = <V>({ ofEntries }: Loan<V>): Patching => (ofEntries ? { mergesLists: true } : {});

/**
 * Restores a field.
 *
 * @param isMeant whether it is to be restored, of the object as it is each time that it is read. @default always
 * @param known the object, if it was read before
 * @returns what stays, as `left` of the loan
 */
export async function restore<V>(
    api: ObjectApi,
    object: ObjectReference,
    loan: Loan<V>,
    isMeant: (object: KubeObject) => boolean = () => true,
    known?: KubeObject,
): Promise<string | undefined> {
    const found = known ?? (await api.get(object));
    if (found === undefined) return undefined;
    const keeper = loan.keeperOf?.(found);
    const kept = keeper === undefined ? undefined : await api.get({ ...object, name: keeper });
    const next = (current: KubeObject, before: KubeObject) =>
        isMeant(current) ? restoring(loan, current, { kept, before }) : undefined;
    await change(api, object, next, { known: found, ...howToPatch(loan) });
    return loan.left?.(found, object.resource.kind);
}

/**
 * The next patch that lends a field. Undefined if there is nothing to do.
 *
 * @param before the object before the last patch. @default the object
 */
export function lending<V>(loan: Loan<V>, lent: Lent<V>, object: KubeObject, before = object): object | undefined {
    const { field, notes } = loan;
    const { run } = lent;
    const metadata = object.metadata!;
    const [current, set] = [lentIn(loan, object), lent.value(object)];
    const note = notes.read(object);
    const isNoted = note?.run === run && isDeepStrictEqual(note.set ?? set, set);
    // Somebody removes or edits the note each time. Its keeper knows what was there.
    if (!isNoted && before !== object && loan.keeperOf && isDeepStrictEqual(current, set)) return undefined;
    if (!isNoted || !isDeepStrictEqual(current, set)) {
        const [owners, applied] = [ownersOf(metadata, field), appliedIn<V>(object, field)];
        const written = notes.written(object, { run, before: loan.wanted(object), set, owners, applied });
        return patch(object, written, { [field]: merging(loan, current, set) });
    }
    const owners = note.owners ?? ownersOf(before.metadata!, field);
    // What had no owner stays this package's, if only its owners would be known. The API server records changes by the
    // subresource `scale`, such as an autoscaler's, only of a field that has an owner (`skipNonAppliedManager` of
    // k8s.io/apimachinery/pkg/util/managedfields).
    const isKept = note.owners === undefined && owners.length === 0;
    if (isKept || !isOurs(metadata, field)) return undefined;
    return patch(object, { managedFields: givenBack(metadata, field, owners) });
}

/**
 * The next patch that restores a field. Undefined if there is nothing to restore.
 *
 * @param kept the object that its `keeperOf` names
 * @param before the object before the last patch. @default the object
 */
export function restoring<V>(
    loan: Loan<V>,
    object: KubeObject,
    { kept, before = object }: { kept?: KubeObject; before?: KubeObject } = {},
): object | undefined {
    const { field, notes } = loan;
    const [current, wanted] = [lentIn(loan, object), loan.wanted(object, kept)];
    const note = notes.read(object);
    if (!isDeepStrictEqual(current, wanted)) {
        // What the value itself says of the run is gone then, and the second patch is still to come.
        const noted = loan.ofEntries && note ? notes.written(object, note as Note<V>) : {};
        return patch(object, noted, { [field]: merging(loan, current, wanted) });
    }
    if (note === undefined) return undefined;
    const wasAsSet = isDeepStrictEqual(lentIn(loan, before), note.set);
    const { owners = wasAsSet ? ownersOf(before.metadata!, field) : [] } = note;
    const isAsBefore = isDeepStrictEqual(current, note.before);
    const managedFields = givenBack(object.metadata!, field, isAsBefore ? owners : []);
    return patch(object, { ...notes.erased(object), managedFields });
}

/** What a field had in the manifest that a client-side `kubectl apply` has applied last, which notes that. */
export function appliedIn<V>(object: KubeObject, field: string): V | undefined {
    const { spec } = noteIn<{ spec: Partial<Record<string, V>> }>(object, lastApplied);
    return spec?.[field];
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** Notes in an annotation, as JSON. */
export const notesIn = <V>(annotation: string): Notes<V> => ({
    read(object) {
        if (object.metadata?.annotations?.[annotation] === undefined) return undefined;
        const { selector: before, set: _, ...note } = noteIn<Note<V> & { selector: V }>(object, annotation);
        return note.run && before && note.owners ? { ...note, before } : {};
    },
    written: (_, { run, before: selector, owners, applied }) => ({
        annotations: { [annotation]: JSON.stringify({ run, selector, owners, applied }) },
    }),
    erased: () => ({ annotations: { [annotation]: null } }),
});

/** What makes one value another, in a merge patch. */
function merging<V>({ ofEntries }: Loan<V>, from: V, to: V): unknown {
    if (ofEntries) return ofEntries.written(to);
    if (typeof from !== "object" || typeof to !== "object") return to ?? null;
    return { ...Object.fromEntries(Object.keys(from!).map((key) => [key, null])), ...to };
}

const patch = ({ metadata }: KubeObject, changed: object, spec?: object): object => ({
    metadata: { resourceVersion: metadata!.resourceVersion, ...changed },
    ...(spec && { spec }),
});

/** Changes that an action makes to an object until the run is undone: pure patches, for the update and the Job. */
import { isDeepStrictEqual } from "node:util";
import { annotations, noteIn } from "../cluster/labels";
import type { KubeObject, Restorable } from "../cluster/resources";

type Fields = Record<string, unknown>;

/**
 * What an action has set in an object's `spec`, and what was there before; null for nothing. It may say more than the
 * code that restores it knows: who may write it may change the object anyway.
 */
interface Note {
    before: Fields;
    set: Fields;
}

/** The merge patch that sets fields of an object's `spec`, and notes what they were before the first action. */
export function noting(object: KubeObject, set: Fields): object {
    const earlier = noteOf(object);
    const note: Note = {
        before: merged(valuesAt(set, specOf(object)), earlier?.before ?? {}),
        set: merged(earlier?.set ?? {}, set),
    };
    return patch(object, JSON.stringify(note), set);
}

/** What actions have changed by `noting`. What somebody else has set since stays as it is. */
export const notedChange: Restorable = {
    isChanged: ({ metadata }) => metadata?.annotations?.[annotations.changed] !== undefined,
    runOf: () => undefined,
    next(object) {
        if (!notedChange.isChanged(object)) return undefined;
        const { before, set } = noteOf(object) ?? { before: {}, set: {} };
        return patch(object, null, unlessSetSince(before, set, specOf(object)));
    },
};

function noteOf(object: KubeObject): Note | undefined {
    const { before, set } = noteIn<Note>(object, annotations.changed);
    return isFields(before) && isFields(set) ? { before, set } : undefined;
}

const specOf = ({ spec }: KubeObject) => (spec ?? {}) as Fields;

const patch = ({ metadata }: KubeObject, note: string | null, spec: Fields): object => ({
    metadata: { resourceVersion: metadata!.resourceVersion, annotations: { [annotations.changed]: note } },
    ...(Object.keys(spec).length > 0 && { spec }),
});

/** Lists count as one value, as in a merge patch. */
const isFields = (value: unknown): value is Fields =>
    typeof value === "object" && value !== null && !Array.isArray(value);

function merged(one: Fields, other: Fields): Fields {
    const both = Object.entries(other).map(([key, value]) => {
        const before = one[key];
        return [key, isFields(value) && isFields(before) ? merged(before, value) : value] as const;
    });
    return { ...one, ...Object.fromEntries(both) };
}

/** What an object has where some fields are. */
const valuesAt = (fields: Fields, current: Fields): Fields =>
    Object.fromEntries(
        Object.entries(fields).map(([key, value]) => {
            const found = current[key];
            return [key, isFields(value) && isFields(found) ? valuesAt(value, found) : (found ?? null)];
        }),
    );

/** The earlier values of the fields that are still as they were set. */
const unlessSetSince = (before: Fields, set: Fields, current: Fields): Fields =>
    Object.fromEntries(
        Object.entries(set).flatMap(([key, value]) => {
            const [was, is] = [before[key], current[key]];
            if (isDeepStrictEqual(is, value)) return [[key, was ?? null]];
            if (!isFields(value) || !isFields(was) || !isFields(is)) return [];
            return [[key, unlessSetSince(was, value, is)]];
        }),
    );

/** Changes to objects that others may change at the same time. Knows no client, as `resources.ts`. */
import type { KubeObject, ObjectApi, ObjectReference } from "./resources";

const maxTries = 5;

/**
 * Reads an object and changes it as it was read. The API server rejects the change (409) if somebody has changed the
 * object in between; then both are done again, five times at most.
 */
export async function againOnConflict<T>(readAndChange: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
        try {
            return await readAndChange();
        } catch (error) {
            if ((error as { code?: unknown } | null)?.code !== 409 || tries === maxTries) throw error;
        }
    }
}

/**
 * Patches an object until there is nothing to change.
 *
 * @param next the next merge patch for what the object is; undefined if there is nothing to change
 * @param known the object as it was read. @default it is read first
 */
export async function change<T extends KubeObject>(
    api: ObjectApi,
    object: ObjectReference,
    next: (current: T) => object | undefined,
    known?: T,
): Promise<boolean> {
    let last = known;
    return againOnConflict(async () => {
        let current = last ?? ((await api.get(object)) as T | undefined);
        last = undefined;
        for (let body = current && next(current); body !== undefined; body = current && next(current))
            current = (await api.patch(object, body)) as T | undefined;
        return current !== undefined;
    });
}

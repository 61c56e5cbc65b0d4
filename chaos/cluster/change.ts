/** Changes to objects that others may change at the same time. Knows no client, as `resources.ts`. */
import type { KubeObject, ObjectApi, ObjectReference, Patching } from "./resources";

/** Controllers change some objects several times in the moments after a patch, such as the status of a Deployment. */
const maxTries = 10;

/** A change takes two or three patches. More are the same one, after which the object still wants it. */
const maxPatches = 10;

/**
 * Reads an object and changes it as it was read. The API server rejects the change (409) if somebody has changed the
 * object in between; then both are done again, ten times at most.
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
 * @param next the next merge patch for what the object is; undefined if there is nothing to change. Its second argument
 *   is the object before the last patch; before any, the object
 * @param how how the patches are meant; and `known`, the object as it was read. @default it is read first
 * @returns false if it does not exist
 * @throws Error that names the object, if it still wants the same patch after it
 */
export async function change<T extends KubeObject>(
    api: ObjectApi,
    object: ObjectReference,
    next: (current: T, before: T) => object | undefined,
    { known, ...how }: Patching & { known?: T } = {},
): Promise<boolean> {
    let last = known;
    let before: T | undefined;
    return againOnConflict(async () => {
        let current = last ?? ((await api.get(object)) as T | undefined);
        last = undefined;
        for (let patches = 0; current !== undefined; patches++) {
            const body = next(current, before ?? current);
            if (body === undefined) return true;
            if (patches === maxPatches) throw new Error(`${nameOf(object)} is not as wanted after ${patches} patches`);
            const patched = (await api.patch(object, body, how)) as T | undefined;
            before = current;
            current = patched;
        }
        return false;
    });
}

const nameOf = ({ resource, namespace, name }: ObjectReference) => `${resource.kind} ${name} in namespace ${namespace}`;

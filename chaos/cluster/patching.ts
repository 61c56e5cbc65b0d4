/**
 * Patches an object until there is nothing to change. Knows no client: the deadline Job has another than the update.
 *
 * @param found undefined if it is gone
 * @param next the next merge patch; undefined if there is nothing to change
 * @param patch gives what the object is then
 * @returns what it is at the end
 */
export async function patchUntilDone<T extends object>(
    found: T | undefined,
    next: (current: T) => object | undefined,
    patch: (body: object) => Promise<T | undefined>,
): Promise<T | undefined> {
    const body = found && next(found);
    return body === undefined ? found : patchUntilDone(await patch(body), next, patch);
}

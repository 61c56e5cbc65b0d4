import * as provider from "@pulumi/pulumi/proto/provider_pb";
import { type DifferenceKind, differences, rootOf } from "./difference";
import type { Properties } from "./values";

const { Kind } = provider.PropertyDiff;

const kinds: Readonly<Record<DifferenceKind, provider.PropertyDiff.Kind>> = {
    add: Kind.ADD,
    delete: Kind.DELETE,
    update: Kind.UPDATE,
};

const replacingKinds: Readonly<Record<DifferenceKind, provider.PropertyDiff.Kind>> = {
    add: Kind.ADD_REPLACE,
    delete: Kind.DELETE_REPLACE,
    update: Kind.UPDATE_REPLACE,
};

/**
 * The engine's answer to "what would change": every change of a command's inputs updates it, one of its triggers
 * replaces it.
 *
 * @param ignored top-level inputs whose changes do not count (the resource option `ignoreChanges`).
 */
export function diffResponse(
    oldInputs: Properties,
    newInputs: Properties,
    ignored: readonly string[],
): provider.DiffResponse {
    const found = differences(oldInputs, newInputs).filter(([path]) => !ignored.includes(rootOf(path)));
    const replaces = found.filter(([path]) => rootOf(path) === "triggers").map(([path]) => path);
    const response = new provider.DiffResponse()
        .setChanges(
            found.length > 0
                ? provider.DiffResponse.DiffChanges.DIFF_SOME
                : provider.DiffResponse.DiffChanges.DIFF_NONE,
        )
        .setDiffsList([...new Set(found.map(([path]) => rootOf(path)))])
        .setReplacesList(replaces.length > 0 ? ["triggers"] : [])
        .setHasdetaileddiff(true);
    const detailed = response.getDetaileddiffMap();
    for (const [path, kind] of found) {
        const byKind = replaces.includes(path) ? replacingKinds : kinds;
        detailed.set(path, new provider.PropertyDiff().setKind(byKind[kind]).setInputdiff(true));
    }
    return response;
}

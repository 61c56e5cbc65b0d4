import { againOnConflict } from "../cluster/change";
import type { Cluster } from "../cluster/client";
import { objectApi } from "../cluster/objects";
import type { ObjectReference } from "../cluster/resources";
import { noting } from "./noted";

/**
 * Sets fields of an object's `spec` until the run is undone. The kind of action says so by `restores`.
 *
 * @throws Error if the object does not exist
 */
export async function setUntilUndone(cluster: Cluster, object: ObjectReference, spec: Record<string, unknown>) {
    const api = objectApi(cluster);
    const patched = await againOnConflict(async () => {
        const current = await api.get(object);
        return current && api.patch(object, noting(current, spec));
    });
    if (patched !== undefined) return;
    throw new Error(`there is no ${object.resource.kind} ${object.name} in namespace ${object.namespace}`);
}

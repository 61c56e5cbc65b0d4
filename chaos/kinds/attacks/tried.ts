import { parseJson } from "../../values/json";
import type { JobContext } from "./job-part";

/**
 * What the run has found in each target before the attack, as the ConfigMap that is the attack tells the deadline Job
 * in its field `tried`. Empty if that is not there. @typeParam V what the kind's `tryOut` gives of a target
 */
export async function triedIn<V>({ api, object }: Pick<JobContext, "api" | "object">): Promise<V[]> {
    const request = (await api.get(object)) as { data?: { tried?: string } } | undefined;
    return (parseJson(request?.data?.tried ?? "") as V[] | undefined) ?? [];
}

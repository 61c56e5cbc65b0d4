import { parseJson } from "../../values/json";
import type { JobContext } from "./job-part";
import type { OtherKind, TriedBy } from "./registry";

/**
 * What the run has found before the attack, as the ConfigMap that is the attack tells the deadline Job in its field
 * `tried`. Undefined if that is not there.
 */
export async function triedIn<N extends OtherKind>({ api, object }: Pick<JobContext, "api" | "object">) {
    const request = (await api.get(object)) as { data?: { tried?: string } } | undefined;
    return parseJson(request?.data?.tried ?? "") as TriedBy<N> | undefined;
}

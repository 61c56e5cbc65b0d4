/** DNSChaos: https://github.com/chaos-mesh/chaos-mesh/blob/master/api/v1alpha1/dnschaos_type.go */
import { type Fields, Refusal } from "../fields";
import type { Read } from "./reader";

const nothing = (does: string) =>
    new Refusal(
        `${does}; no attack does that. Nearest: action: error without patterns, which becomes a dns attack and ` +
            "blocks all lookups",
    );
const wrongly = nothing("answers lookups with wrong addresses");

const actions: Record<string, "error" | Refusal> = {
    error: "error",
    random: wrongly,
    replace: wrongly,
    delay: nothing("delays lookups"),
};

export function readDnsChaos(spec: Fields): Read | undefined {
    if (spec.word("action", actions, "error") === undefined) return undefined;
    if (spec.texts("patterns").some((pattern) => pattern !== "*"))
        spec.refuse(
            "are of some names, and a dns attack blocks all lookups. Nearest: omit them for that; for a host outside " +
                "of the cluster, a blackhole with its name in peers",
            "patterns",
        );
    spec.note("answers lookups with an error at once; here none comes, and they fail at their time limit", "action");
    if (spec.has("containerNames")) spec.note("names containers, and the attack is of whole pods", "containerNames");
    return { attack: { kind: "dns" }, containers: spec.texts("containerNames") };
}

/** Actions on Deployments: https://github.com/steadybit/extension-kubernetes */
import type { Fields } from "../fields";
import type { Draft } from "../imported";

export function rolloutOf(parameters: Fields, deployment: string | undefined): Draft {
    if (parameters.has("duration")) parameters.refuse("omit it, and set timeoutMs of the action by hand", "duration");
    if (parameters.text("wait") !== "true") parameters.note("a rollout is waited for here", "wait");
    if (parameters.text("checkBefore") === "true")
        parameters.note("here another rollout may be under way", "checkBefore");
    return { kind: "rollout", deployment };
}

export function scaleOf(parameters: Fields, deployment: string | undefined): Draft {
    parameters.take("duration");
    return { kind: "scale", deployment, replicas: parameters.number("replicaCount", { least: 0, most: 100 }) };
}

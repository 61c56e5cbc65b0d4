import type { V1Deployment, V1Pod } from "@kubernetes/client-node";
import { experimentOf, targetMarkOf } from "../../shared/labels";

/**
 * What keeps a workload from being ready, and what to do about it, in words; undefined where nothing does.
 *
 * @param pods the workload's, without those that are on their way out
 * @param dispensable whether variant four does without it. @default false
 */
export function whatItWaitsFor(
    deployment: V1Deployment,
    pods: readonly V1Pod[],
    dispensable = false,
): string | undefined {
    const { name, namespace, generation } = deployment.metadata!;
    const {
        observedGeneration,
        updatedReplicas = 0,
        availableReplicas = 0,
        replicas = 0,
        conditions = [],
    } = deployment.status ?? {};
    const wanted = deployment.spec?.replicas ?? 1;
    if (
        observedGeneration === generation &&
        updatedReplicas === wanted &&
        availableReplicas === wanted &&
        replicas === wanted
    )
        return undefined;

    const refused = conditions.find(({ type, status }) => type === "ReplicaFailure" && status === "True");
    if (refused) {
        return `${name} has no pod: the cluster refuses to make one: ${sentence(refused.message)} Mend what it names, such as a quota of namespace ${namespace}, and run \`pulumi up\` again.`;
    }
    for (const { metadata, status } of pods) {
        const unscheduled = status?.conditions?.find(
            (condition) => condition.type === "PodScheduled" && condition.status === "False",
        );
        if (unscheduled) {
            const without = dispensable ? " or do without it (`pulumi config set variant four`)" : "";
            return `${name} is Pending: it waits for a node that has room for it: ${sentence(unscheduled.message)} Make room (a larger node, one more, fewer replicas of others)${without}, and run \`pulumi up\` again.`;
        }
        const waiting = status?.containerStatuses
            ?.map(({ state }) => state?.waiting)
            .find(
                (state) => state?.reason && state.reason !== "ContainerCreating" && state.reason !== "PodInitializing",
            );
        if (waiting) {
            const remedy = /Image/.test(waiting.reason!)
                ? "Set an image that the cluster can get with `pulumi config set images.node IMAGE`"
                : `Look at \`kubectl --namespace ${namespace} logs ${metadata!.name} --previous\``;
            return `${name} is ${status!.phase}: its container does not start: ${waiting.reason}${waiting.message ? `: ${sentence(waiting.message)}` : "."} ${remedy}, and run \`pulumi up\` again.`;
        }
    }
    const mark = pods.map(targetMarkOf).find((value) => value !== undefined);
    if (mark !== undefined)
        return `${name} was under attack by the experiment ${experimentOf(mark)} when this was looked at. The next update looks again.`;
    const phase = pods.find(({ status }) => status?.phase !== "Running")?.status?.phase;
    return phase
        ? `${name} is ${phase}: it waits for its container to start. Look at \`kubectl --namespace ${namespace} describe deployment ${name}\`.`
        : `${name} is not ready yet: its pod does not answer its readiness probe. Look at \`kubectl --namespace ${namespace} logs deployment/${name}\`.`;
}

const sentence = (message = "no reason given") =>
    /[.!?]$/.test(message.trim()) ? message.trim() : `${message.trim()}.`;

/** What the run finds out of the targets of a `fail` before it: whether they can be stopped, and come back soon. */
import type { Cluster } from "../../../cluster/client";
import { howToPatch } from "../../../cluster/lend";
import { isNoDryRun } from "../../../cluster/problem";
import { resources } from "../../../cluster/resources";
import { addressesOfTarget, type Target } from "../../../targets/containers";
import { inTurns } from "../../../values/async";
import { describeMilliseconds } from "../../../values/duration";
import { endpoint } from "../../../values/endpoint";
import { groupedBy } from "../../../values/grouped";
import { isSidecar, tcpPortsOf } from "../../../values/kubernetes-rules";
import type { V1Container, V1ContainerStatus, V1Pod } from "../../../values/kubernetes-types";
import { quoted } from "../../../values/quoted";
import { ReasonError } from "../../../values/reasons";
import type { RunAttack } from "../attack-kind";
import { gone, imagesOf, stoppedContainers, stoppedImages } from "./image";
import { abortIfRejected, refused } from "./refusals";
import type { Victim } from "./victim";

const maxTried = 10;

/**
 * @returns the containers, as they are before the attack
 * @throws ReasonError if one would not stay stopped, would not come back, or may not be changed
 */
export async function tryFail(one: RunAttack<unknown>, cluster: Cluster): Promise<Victim[]> {
    const ofPods = [...groupedBy(one.chosen.targets, ({ uid }) => uid).values()];
    return (await inTurns(ofPods, maxTried, (targets) => tryPod(one, targets, cluster))).flat();
}

async function tryPod(one: RunAttack<unknown>, targets: readonly Target[], cluster: Cluster): Promise<Victim[]> {
    const { pod: name, namespace, uid } = targets[0]!;
    const pod = await cluster.get({ resource: resources.pod, namespace, name });
    if (pod?.metadata?.uid !== uid) throw gone(name);
    const stopped = targets.map(({ container }) => containerOf(pod, container));
    const why = whyUnfit(pod, stopped, Date.now());
    if (why) throw new ReasonError("attack-refused", `${name} ${why.what}`, why.advice);
    await tryChange(one.run, pod, stopped, cluster);
    const images = imagesOf(pod);
    return targets.map((target) => {
        const { container } = target;
        const restarts = statusIn(pod, container)?.restartCount ?? 0;
        return {
            pod: name,
            uid,
            container,
            image: images[container]!,
            restarts,
            endpoints: servedBy(target, targets, pod),
        };
    });
}

const containerOf = ({ spec }: V1Pod, container: string): V1Container =>
    spec!.containers.find(({ name }) => name === container)!;

const statusIn = ({ status }: V1Pod, container: string): V1ContainerStatus | undefined =>
    status?.containerStatuses?.find(({ name }) => name === container);

/** Why a pod would not stay stopped, or would come back late; `what` completes "web-1 …". Undefined if neither. */
function whyUnfit(
    pod: V1Pod,
    containers: readonly V1Container[],
    now: number,
): { what: string; advice: string } | undefined {
    const { metadata, spec } = pod;
    // A node owns the copy of a pod that its kubelet runs from a file: that does not change with the copy.
    if (metadata!.ownerReferences?.some(({ kind }) => kind === "Node"))
        return { what: "is a static pod, which only its node can change", advice: "Choose another target" };
    for (const { name, restartPolicy = spec!.restartPolicy ?? "Always" } of containers) {
        if (restartPolicy !== "Always")
            return {
                what: `would end: its container ${name} has restartPolicy ${restartPolicy}, and would not start again`,
                advice: "Choose pods with restartPolicy Always, as those of a Deployment have, or kill it instead",
            };
        const status = statusIn(pod, name);
        if (status?.state?.running === undefined)
            return { what: `cannot be stopped: its container ${name} does not run`, advice: "Choose another target" };
        const why = whyLate(status, now);
        if (why !== undefined)
            return {
                what: `would come back late: its container ${name} ${why}`,
                advice:
                    `The kubelet forgets that once the container has run for ${describeMilliseconds(forgottenMs)}: ` +
                    "start another run then, or delete the pod",
            };
    }
    return undefined;
}

/** A kubelet waits so long before the second restart of a container, then twice as long each time, up to the most. */
const backOffMs = { first: 10_000, most: 300_000 };
/** It forgets earlier restarts if the container ran for so long. */
const forgottenMs = 2 * backOffMs.most;
/** More would delay the recovery beyond what a run waits for it, though the attack has lasted for a part of it. */
const mostBackOffMs = 80_000;

/**
 * Why the kubelet may wait too long between the end of a container and its start: it was restarted before. It says how
 * often that was in all, and when it was last. Undefined if it waits less.
 */
function whyLate(status: V1ContainerStatus, now: number): string | undefined {
    const msFrom = (from = "", to: string | number = "") => new Date(to).getTime() - Date.parse(from);
    const { restartCount = 0, state, lastState } = status;
    const { startedAt, finishedAt } = lastState?.terminated ?? {};
    const runsForMs = msFrom(state?.running?.startedAt, now);
    if (restartCount === 0 || runsForMs > forgottenMs) return undefined;
    const restarts = msFrom(startedAt, finishedAt) > forgottenMs ? 1 : restartCount;
    const waitMs = Math.min(backOffMs.most, backOffMs.first * 2 ** (restarts - 1));
    if (waitMs <= mostBackOffMs) return undefined;
    return (
        `was restarted ${restartCount} times, last ${describeMilliseconds(wholeSeconds(runsForMs))} ago, and ` +
        `the kubelet may wait up to ${describeMilliseconds(waitMs)} before it starts it again`
    );
}

const wholeSeconds = (ms: number) => Math.round(ms / 1_000) * 1_000;

/** Where a container alone of its pod accepts connections, and others that are stopped with it. */
function servedBy(target: Target, targets: readonly Target[], { spec, ...pod }: V1Pod): string[] {
    const isStopped = ({ name }: V1Container) => targets.some(({ container }) => container === name);
    const portsOf = (containers: V1Container[], initContainers: V1Container[] = []) =>
        tcpPortsOf({ ...pod, spec: { ...spec, containers, initContainers } });
    const others = spec!.containers.filter((one) => !isStopped(one));
    const sidecars = (spec!.initContainers ?? []).filter(isSidecar);
    const ofOthers = portsOf(others, sidecars);
    const declared = portsOf(spec!.containers.filter(isStopped));
    // A Service may lead to a port that nobody declares. If another container goes on, it may be that one's.
    const ports = target.ports.filter((port) => others.length === 0 || declared.includes(port));
    const served = ports.filter((port) => !ofOthers.includes(port));
    return addressesOfTarget(target).flatMap((address) => served.map((port) => endpoint(address, port)));
}

/** Tries by a dry run whether the API server admits the change. @throws ReasonError if it does not */
async function tryChange(run: string, pod: V1Pod, containers: readonly V1Container[], cluster: Cluster): Promise<void> {
    const { name, namespace } = pod.metadata as { name: string; namespace: string };
    const names = containers.map((one) => one.name);
    const wanted = stoppedImages(run, imagesOf(pod), names);
    const body = { spec: { containers: stoppedContainers.ofEntries!.written(wanted) } };
    const how = { ...howToPatch(stoppedContainers), dryRun: "All" } as const;
    const changed = await cluster
        .patch({ resource: resources.pod, namespace, name }, body, how)
        .catch((error: unknown) => {
            // What a webhook says that takes no dry runs, it says when the containers are stopped.
            return isNoDryRun(error) ? pod : abortIfRejected(name)(error);
        });
    if (changed === undefined) throw gone(name);
    if (changed === pod) return;
    const other = Object.entries(imagesOf(changed)).find(([container, image]) => image !== wanted[container]);
    if (other) throw refused(name, `something sets the image of its container ${other[0]} to ${quoted(other[1])}`);
}

/** How the update stops the containers of a `fail`, and what explains that one runs. */
import type { Cluster } from "../../../cluster/client";
import { lend } from "../../../cluster/lend";
import { setterOf } from "../../../cluster/field-owners";
import { resources } from "../../../cluster/resources";
import { inTurns } from "../../../values/async";
import { groupedBy } from "../../../values/grouped";
import type { V1Pod } from "../../../values/kubernetes-types";
import { quoted, wordOf } from "../../../values/quoted";
import { reason, type Reason } from "../../../values/reasons";
import type { RunAttack } from "../attack-kind";
import { gone, imagesOf, readUnrunnable, stoppedContainers, stopping } from "./image";
import { abortIfRejected } from "./refusals";
import { nameOf, type Victim } from "./victim";

const maxCalls = 12;

type FailOfRun = RunAttack<unknown, unknown, Victim[]>;

const eachPod = <T>({ chosen }: FailOfRun, work: (victims: readonly Victim[]) => Promise<T>): Promise<T[]> =>
    inTurns([...groupedBy(chosen.tried ?? [], ({ uid }) => uid).values()], maxCalls, work);

/** @throws ReasonError if a target is not there any more, or may not be changed */
export async function stopContainers(one: FailOfRun, cluster: Cluster): Promise<void> {
    const { run, namespace, label } = one;
    await eachPod(one, async (victims) => {
        const { pod: name, uid } = victims[0]!;
        const containers = victims.map(({ container }) => container);
        const object = { resource: resources.pod, namespace, name };
        const lent = stopping(run, { uid, label, containers });
        const isThere = await lend(cluster, object, stoppedContainers, lent).catch(abortIfRejected(name));
        if (!isThere) throw gone(name);
    });
}

/**
 * Why a container runs, or may: somebody has given it an image, or it has not ended yet. Undefined if nothing shows
 * that, also of one with the image from before: the end of the run restores that, too.
 */
export async function explainFail(one: FailOfRun, cluster: Cluster): Promise<Reason | undefined> {
    const reasons = await eachPod(one, async (victims) => {
        const [{ pod: name, uid }] = victims as [Victim];
        const pod = await cluster.get({ resource: resources.pod, namespace: one.namespace, name });
        if (pod?.metadata?.uid !== uid) return undefined;
        return victims.map((victim) => explainOne(victim, one.run, pod)).find((why) => why !== undefined);
    });
    return reasons.find((why) => why !== undefined);
}

function explainOne(victim: Victim, run: string, { metadata, spec, status }: V1Pod): Reason | undefined {
    const image = imagesOf({ spec })[victim.container] ?? "";
    const isOurs = readUnrunnable(image)?.run === run;
    if (!isOurs && image !== victim.image) {
        const setter = setterOf(metadata!, stoppedContainers.field)?.manager;
        const by = setter === undefined ? "" : ` (${wordOf(setter)})`;
        return reason("target-changed", `somebody${by} has given ${nameOf(victim)} the image ${quoted(image)}`);
    }
    const isRunning = status?.containerStatuses?.find(({ name }) => name === victim.container)?.state?.running;
    if (!isOurs || !isRunning) return undefined;
    const grace = `its pod's grace period is ${spec?.terminationGracePeriodSeconds ?? 30} s`;
    return reason("attack-not-proven", `${nameOf(victim)} was told to end, and still runs; ${grace}`);
}

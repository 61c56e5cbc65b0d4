import { beginsAtPeers, beginsAtTargets, controlsAtTargets } from "../attacks/begins-at";
import type { Proof } from "../attacks/kind";
import { type Cluster, messageOf } from "../cluster/client";
import { besides, onePerPod } from "../targets/besides";
import type { Chosen } from "../targets/choose";
import type { Discovered, Prober, Target } from "../targets/containers";
import { runWithin } from "./run-within";
import { noTool, type QuestionKind, searchFor, shellLessPrograms } from "./tools";

/** What runtimes say of a program that an image does not have, or that its user may not run. */
const notThere =
    /executable file.* not found|no such file or directory|error finding executable|exec: .*permission denied/i;
/** With these, a runtime may say the same: the codes of shells. */
const notThereCodes = [126, 127, noTool];

export interface ProbersFound {
    chosen: Chosen;
    /** Pods in which something must be tried for the proof, and no container has a tool. */
    lacking: string[];
}

/**
 * Looks in the pods of an attack's targets and peers for a container with a tool that connections and lookups can be
 * tried with: first the targets themselves, then the other containers.
 *
 * @param discovered all containers of these pods
 */
export async function findProbers(
    cluster: Cluster,
    proof: Proof,
    chosen: Chosen,
    discovered: readonly Discovered[],
): Promise<ProbersFound> {
    const kind: QuestionKind = proof.lookup ? "lookup" : "connect";
    const usesTargets = beginsAtTargets(proof) || controlsAtTargets(proof);
    const look = (containers: readonly Target[], isUsed: boolean) =>
        isUsed ? equipped(cluster, containers, kind, discovered) : { containers: [...containers], lacking: [] };
    const [targets, peers] = await Promise.all([
        look(chosen.targets, usesTargets),
        look(chosen.peers ?? [], beginsAtPeers(proof)),
    ]);
    return {
        chosen: { ...chosen, targets: targets.containers, ...(chosen.peers && { peers: peers.containers }) },
        lacking: [...(beginsAtTargets(proof) ? targets.lacking : []), ...peers.lacking],
    };
}

/** Some containers with what to try connections with in their pods, and the pods that have nothing. */
async function equipped(
    cluster: Cluster,
    containers: readonly Target[],
    kind: QuestionKind,
    discovered: readonly Discovered[],
): Promise<{ containers: Target[]; lacking: string[] }> {
    const pods = await Promise.all(
        onePerPod(containers).map(async (one) => {
            const own = containers.filter(({ uid }) => uid === one.uid).map(({ container }) => container);
            const names = [...own, ...besides(discovered, containers, one)];
            return { one, prober: await proberIn(cluster, one, names, kind) };
        }),
    );
    const probers = new Map(pods.map(({ one, prober }) => [one.uid, prober]));
    return {
        containers: containers.map((one) => {
            const prober = probers.get(one.uid);
            const isDefault = prober?.container === one.container && prober.program === undefined;
            return prober && !isDefault ? { ...one, prober } : one;
        }),
        lacking: pods.flatMap(({ one, prober }) => (prober === null ? [one.pod] : [])),
    };
}

/** The first container with a tool. Null if none has one, and undefined if that could not be found out. */
async function proberIn(
    cluster: Cluster,
    pod: Target,
    containers: readonly string[],
    kind: QuestionKind,
): Promise<Prober | null | undefined> {
    let unknown = false;
    for (const container of containers) {
        for (const program of [undefined, ...shellLessPrograms]) {
            const found = await isThere(cluster, { ...pod, container }, searchFor(kind, program));
            if (found) return { container, ...(program !== undefined && { program }) };
            if (found === undefined) {
                unknown = true;
                break;
            }
        }
    }
    return unknown ? undefined : null;
}

/** Whether a container has what a command needs. Undefined if that could not be found out. */
async function isThere(cluster: Cluster, where: Target, command: string[]): Promise<boolean | undefined> {
    try {
        return !notThereCodes.includes(await runWithin(cluster, where, command));
    } catch (error) {
        return notThere.test(messageOf(error)) ? false : undefined;
    }
}

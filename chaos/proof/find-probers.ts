import { isIP } from "node:net";
import { beginsAtPeers, beginsAtTargets, controlsAtTargets, type Proof } from "../kinds/attacks/attack-kind";
import type { Cluster } from "../cluster/client";
import { problemOf } from "../cluster/problem";
import { groupedBy } from "../values/grouped";
import { besides, onePerPod } from "../targets/pods";
import type { Chosen } from "../targets/choose";
import { type Discovered, ownerOf, type Prober, type Target } from "../targets/containers";
import { ExecRefused, isLacking, runWithin } from "../cluster/run-within";
import { noTool, type QuestionKind, searchFor, shellLessPrograms } from "./tools";

/** What the tools in a container must be able to do for a proof. An address is not looked up. */
export function kindsFor({ lookup, addresses, stillWorks: { host } = {} }: Proof): QuestionKind[] {
    if (lookup) return ["lookup"];
    const hosts = [...(addresses?.hosts ?? []), ...(host && !host.isDefault ? [host] : [])];
    return hosts.some((one) => isIP(one.host) === 0) ? ["connect", "resolve"] : ["connect"];
}

export interface Lacking {
    pod: string;
    /** Why nothing may be run in it. @default no container has a tool */
    refusal?: string;
    /** Why that could not be found out. @default it was */
    failure?: string;
}

/**
 * Looks in the pods of an attack's targets and peers for a container with a tool that connections and lookups can be
 * tried with: first the targets themselves, then the other containers.
 *
 * @param discovered all containers of these pods
 * @returns also the pods in which something must be tried for the proof, and cannot be, or could not be at the moment
 */
export async function findProbers(
    cluster: Cluster,
    proof: Proof,
    chosen: Chosen,
    discovered: readonly Discovered[],
): Promise<{ chosen: Chosen; lacking: Lacking[] }> {
    const kinds = kindsFor(proof);
    const usesTargets = beginsAtTargets(proof) || controlsAtTargets(proof);
    const look = (containers: readonly Target[], isUsed: boolean) =>
        isUsed ? equipped(cluster, containers, kinds, discovered) : { containers: [...containers], lacking: [] };
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
    kinds: readonly QuestionKind[],
    discovered: readonly Discovered[],
): Promise<{ containers: Target[]; lacking: Lacking[] }> {
    const pods = onePerPod(containers).map((one) => {
        const own = containers.filter(({ uid }) => uid === one.uid).map(({ container }) => container);
        return { one, names: [...own, ...besides(discovered, containers, one)] };
    });
    const probers = new Map<string, Prober | Lacking>();
    await Promise.all(
        alike(pods, discovered).map(async (group) => {
            const prober = await proberInAny(cluster, group, kinds);
            for (const { one } of group) probers.set(one.uid, "pod" in prober ? { ...prober, pod: one.pod } : prober);
        }),
    );
    return {
        containers: containers.map((one) => {
            const prober = probers.get(one.uid)!;
            if ("pod" in prober) return one;
            const isDefault = prober.container === one.container && prober.program === undefined;
            return isDefault ? one : { ...one, prober };
        }),
        lacking: pods.flatMap(({ one }) => {
            const prober = probers.get(one.uid)!;
            return "pod" in prober ? prober : [];
        }),
    };
}

interface Searched {
    one: Target;
    /** The containers to look in. */
    names: string[];
}

/**
 * Pods of one template: what one of them has, the others have. A process in each of 100 pods takes a busy node three
 * seconds.
 */
function alike(pods: readonly Searched[], discovered: readonly Discovered[]): Searched[][] {
    const templateOf = ({ one, names }: Searched) => {
        const { attributes = {} } = discovered.find(({ uid }) => uid === one.uid) ?? {};
        const revision = revisionLabels.map((label) => attributes[`k8s.label.${label}`]);
        return revision.some(Boolean) ? JSON.stringify([ownerOf(attributes), revision, names]) : one.uid;
    };
    return [...groupedBy(pods, templateOf).values()];
}

/** The labels by which Deployments, StatefulSets and DaemonSets tell the versions of their templates apart. */
const revisionLabels = ["pod-template-hash", "controller-revision-hash"];
/** The number of pods in which a tool is looked for before it counts as unknown. */
const maxTried = 3;

async function proberInAny(cluster: Cluster, alike: readonly Searched[], kinds: readonly QuestionKind[]) {
    let prober: Prober | Lacking | undefined;
    for (const { one, names } of alike.slice(0, maxTried)) {
        prober = await proberIn(cluster, one, names, kinds);
        if (!("failure" in prober)) break;
    }
    return prober!;
}

/** The first container with a tool. */
async function proberIn(
    cluster: Cluster,
    pod: Target,
    containers: readonly string[],
    kinds: readonly QuestionKind[],
): Promise<Prober | Lacking> {
    const lacking: Lacking = { pod: pod.pod };
    for (const container of containers) {
        for (const program of [undefined, ...shellLessPrograms]) {
            const found = await isThere(cluster, { ...pod, container }, searchFor(kinds, program));
            if (found === true) return { container, ...(program !== undefined && { program }) };
            if (found === false) continue;
            Object.assign(lacking, found);
            break;
        }
    }
    return lacking;
}

/** Whether a container has what a command needs, or why that is not known. */
async function isThere(
    cluster: Cluster,
    where: Target,
    command: string[],
): Promise<boolean | Pick<Lacking, "refusal" | "failure">> {
    try {
        const ran = await runWithin(cluster, where, command);
        return !isLacking(ran) && ran.exitCode !== noTool;
    } catch (error) {
        if (error instanceof ExecRefused) return { refusal: error.message };
        return isLacking(error) ? false : { failure: problemOf(error) };
    }
}

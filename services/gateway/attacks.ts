import * as z from "zod/mini";
import { annotations, labels } from "../../chaos/cluster/labels";
import type { ListedPod } from "./pod-list";

/** What an experiment does to pods of a workload now. */
export interface ShopAttack {
    /** As in the pods' label `app`. Without it, the pod's name. */
    workload: string;
    /** Completes "hot-deals is": `isolated`, `slow by 2 s`. */
    effect: string;
    /** Names of the attacked pods, sorted. */
    pods: string[];
}

/**
 * The attacks on pods of the gateway's namespace, told by their labels, and what they do by annotations.
 *
 * A kill's label goes with the first pod that is killed; then the deadline Job's pod tells of it, as long as it runs.
 * An attack whose targets do not tell what it does is told by its proxy, while that is ready: nothing goes through one
 * that is not.
 */
export function attacksOn(pods: readonly ListedPod[]): ShopAttack[] {
    const [labeled, killers, proxies] = [labels.target, labels.kills, labels.proxy].map((label) =>
        pods.filter((pod) => label in pod.labels),
    ) as [ListedPod[], ListedPod[], ListedPod[]];
    const silent = labeled.filter((pod) => effectOf(pod) === undefined);
    return byWorkload([
        ...labeled.map((pod) => ({ pod, effect: effectOf(pod) })),
        ...killers.filter(({ isReady }) => isReady).flatMap(killedBy),
        ...proxies.filter(({ isReady }) => isReady).flatMap((proxy) => hitBy(proxy, silent)),
    ]);
}

const effectOf = ({ annotations: { [annotations.effect]: effect } }: ListedPod): string | undefined => effect;

interface Hit {
    pod: Pick<ListedPod, "name" | "labels">;
    /** Undefined if it is not known: nothing is shown. */
    effect: string | undefined;
}

const killedSchema = z.record(z.string(), z.array(z.string()));

/** What a deadline Job says that it has killed last. Nothing if that cannot be read. */
function killedBy(job: ListedPod): Hit[] {
    try {
        const killed = job.annotations[annotations.killed] ?? "{}";
        return Object.entries(killedSchema.parse(JSON.parse(killed))).flatMap(([workload, pods]) => {
            const app = workload.slice(workload.indexOf("=") + 1);
            return pods.map((name) => ({ pod: { name, labels: { app } }, effect: effectOf(job) }));
        });
    } catch {
        return [];
    }
}

function hitBy(proxy: ListedPod, silent: readonly ListedPod[]): Hit[] {
    const names = proxy.annotations[annotations.targets]?.split(",") ?? [];
    return silent.filter(({ name }) => names.includes(name)).map((pod) => ({ pod, effect: effectOf(proxy) }));
}

function byWorkload(hit: readonly Hit[]): ShopAttack[] {
    const found = new Map<string, ShopAttack>();
    for (const { pod, effect } of hit) {
        if (effect === undefined) continue;
        const workload = pod.labels.app ?? pod.name;
        const key = JSON.stringify([workload, effect]);
        const attack = found.get(key) ?? { workload, effect, pods: [] };
        found.set(key, { ...attack, pods: [...new Set([...attack.pods, pod.name])].sort() });
    }
    return [...found.entries()].sort(([one], [another]) => (one < another ? -1 : 1)).map(([, attack]) => attack);
}

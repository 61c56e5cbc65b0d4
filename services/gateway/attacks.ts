import * as z from "zod/mini";
import { annotations, attackOf, labels } from "../../chaos/cluster/labels";
import type { ListedPod, ListPods } from "./pod-list";

/** What an experiment does to pods of a workload now. */
export interface ShopAttack {
    /** As in the pods' label `app`. Without it, the pod's name. */
    workload: string;
    /** Completes "hot-deals is": `isolated`, `slow by 2 s`. */
    effect: string;
    /** Names of the attacked pods, sorted. */
    pods: string[];
}

/** What a fault's proxy says of itself. Left-out fields do nothing. */
const faultSchema = z.object({
    delayMs: z._default(z.number(), 0),
    abort: z.optional(z.union([z.number(), z.enum(["reset", "hang"])])),
    percentage: z._default(z.number(), 100),
});
type Fault = z.infer<typeof faultSchema>;

/** By kind of attack. A fault's proxy says what it does. */
const effects: Record<string, string> = {
    blackhole: "isolated",
    dns: "isolated from DNS",
    kill: "killed repeatedly",
};

/**
 * The attacks on the gateway's namespace, told by labels of pods.
 *
 * A kill's label goes with the first pod that is killed; then the deadline Job's pod tells of it, as long as it runs.
 * A fault lasts while its proxy is ready, since nothing goes through a proxy that is not. Proxies are listed only if a
 * pod is the target of a fault: ordinarily there are two requests to the API server.
 *
 * @param targetLabel the label of attacked pods; its value is that of `labels.target`
 * @throws Error as `list` does
 */
export async function readAttacks(list: ListPods, targetLabel: string, signal: AbortSignal): Promise<ShopAttack[]> {
    const [labeled, killers] = await Promise.all([list(targetLabel, signal), list(labels.kills, signal)]);
    const targets = labeled.map((pod) => ({ pod, kind: kindOf(pod.labels[targetLabel]!) }));
    const faulted = targets.filter(({ kind }) => kind === "fault").map(({ pod }) => pod);
    const proxies = faulted.length > 0 ? await list(labels.proxy, signal) : [];
    const hit = [
        ...targets
            .filter(({ kind }) => kind !== "fault")
            .map(({ pod, kind }) => ({ pod, effect: effects[kind] ?? `under the attack ${kind}` })),
        ...killers.filter(({ isReady }) => isReady).flatMap(killedBy),
        ...proxies.filter(({ isReady }) => isReady).flatMap((proxy) => hitBy(proxy, faulted)),
    ];
    return byWorkload(hit);
}

interface Hit {
    pod: Pick<ListedPod, "name" | "labels">;
    effect: string;
}

const killedSchema = z.record(z.string(), z.array(z.string()));

/** What a deadline Job says that it has killed last. Nothing if that cannot be read. */
function killedBy({ annotations: { [annotations.killed]: killed = "{}" } }: ListedPod): Hit[] {
    try {
        return Object.entries(killedSchema.parse(JSON.parse(killed))).flatMap(([workload, pods]) => {
            const app = workload.slice(workload.indexOf("=") + 1);
            return pods.map((name) => ({ pod: { name, labels: { app } }, effect: effects.kill! }));
        });
    } catch {
        return [];
    }
}

const kindOf = (targetLabelValue: string) => attackOf(targetLabelValue).replace(/-\d+$/, "");

function hitBy(proxy: ListedPod, faulted: readonly ListedPod[]): Hit[] {
    const names = proxy.annotations[annotations.targets]?.split(",") ?? [];
    const effect = effectOf(proxy.annotations[annotations.fault]);
    return faulted.filter(({ name }) => names.includes(name)).map((pod) => ({ pod, effect }));
}

/** In words. An annotation that cannot be read may be another version's, and the attack is on all the same. */
function effectOf(annotation = ""): string {
    try {
        return describeFault(faultSchema.parse(JSON.parse(annotation)));
    } catch {
        return "slow or failing";
    }
}

function describeFault({ delayMs, abort, percentage }: Fault): string {
    const share = percentage < 100 ? ` in ${Number(percentage.toFixed(7))}% of requests` : "";
    const delay = delayMs < 1_000 ? `${delayMs} ms` : `${delayMs / 1_000} s`;
    if (abort === undefined) return `slow by ${delay}${share}`;
    const how = { reset: "failing with reset connections", hang: "failing without an answer" };
    const failing = typeof abort === "number" ? `failing with status ${abort}` : how[abort];
    return `${failing}${delayMs > 0 ? ` after ${delay}` : ""}${share}`;
}

function byWorkload(hit: readonly Hit[]): ShopAttack[] {
    const found = new Map<string, ShopAttack>();
    for (const { pod, effect } of hit) {
        const workload = pod.labels.app ?? pod.name;
        const key = JSON.stringify([workload, effect]);
        const attack = found.get(key) ?? { workload, effect, pods: [] };
        found.set(key, { ...attack, pods: [...new Set([...attack.pods, pod.name])].sort() });
    }
    return [...found.entries()].sort(([one], [another]) => (one < another ? -1 : 1)).map(([, attack]) => attack);
}

import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pod, ReplicaSet } from "../../shared/containers";
import { api, expect, say } from "./api";
import type { Killing, KillReport } from "./report";
import { chooseVictims, matchingPods } from "./victims";

const lookMs = 200;

/**
 * Deletes pods at an interval, as `kubectl delete pod` does, for as long as it may.
 *
 * @param mayKill whether the attack has begun and need not have ended yet; asked before every kill
 */
export async function killWhile(mayKill: () => Promise<boolean>, namespace: string, killing: Killing): Promise<never> {
    let atFirst: number | undefined;
    for (let due = 0; ; await sleep(lookMs)) {
        if (Date.now() < due) continue;
        const matching = await listMatching(namespace, killing).catch(say);
        if (matching === undefined || !(await mayKill().catch(say))) continue;
        atFirst ??= matching.length;
        const begun = Date.now();
        const killed = await Promise.all(
            chooseVictims(matching, atFirst, killing, shuffled).map((pod) =>
                kill(namespace, killing.mark, pod).catch(say),
            ),
        );
        // Where the radius is used up, the kill waits until it is not.
        if (killed.some((one) => one)) due = begun + killing.intervalMs;
    }
}

async function listMatching(namespace: string, killing: Killing): Promise<Pod[]> {
    const [pods, replicaSets] = await Promise.all([
        api("GET", `/api/v1/namespaces/${namespace}/pods`),
        api("GET", `/apis/apps/v1/namespaces/${namespace}/replicasets`),
    ]);
    const items = <T>(answer: { status: number; body: string }, what: string) =>
        (JSON.parse(expect(answer, `${what} cannot be listed`)) as { items: T[] }).items;
    return matchingPods(items<Pod>(pods, "pods"), items<ReplicaSet>(replicaSets, "ReplicaSets"), killing);
}

/** Deletes that very pod: the API server refuses where another has taken its name. */
async function kill(namespace: string, mark: string, { metadata }: Pod): Promise<boolean> {
    const { name, uid } = metadata as { name: string; uid: string };
    const at = Date.now();
    const { status } = await api("DELETE", `/api/v1/namespaces/${namespace}/pods/${name}`, { preconditions: { uid } });
    if (status >= 300) throw new Error(`${name} cannot be deleted: ${status}`);
    const report: KillReport = { at, killed: { pod: name, uid, mark } };
    process.stdout.write(`${JSON.stringify(report)}\n`);
    return true;
}

function shuffled<T>(items: readonly T[]): T[] {
    return items
        .map((item) => ({ item, by: randomInt(2 ** 32) }))
        .sort((a, b) => a.by - b.by)
        .map(({ item }) => item);
}

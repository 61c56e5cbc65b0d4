import type { Cluster } from "../cluster/client";
import type { Aim, TargetRequest } from "../targets/choose";
import { type Attack, attackKindOf } from "./registry";

/** Which targets some attacks ask for, given what their kinds find in the cluster. @throws Error as `find` does */
export function requestsOf(
    cluster: Cluster,
    { namespace, attacks }: { namespace: string; attacks: readonly (Aim & { attack: Attack })[] },
): Promise<TargetRequest[]> {
    const asking = attacks.map(async ({ attack, ...aim }) => {
        const kind = attackKindOf(attack);
        const { found, conditions, origin } = (await kind.find?.(attack, cluster, namespace)) ?? {};
        return {
            ...aim,
            target: [aim.target, ...(conditions === undefined ? [] : [conditions])].join(),
            origin,
            peers: "peers" in attack ? attack.peers : undefined,
            deletesPods: kind.proof(attack).deleted,
            found,
        };
    });
    return Promise.all(asking);
}

import type { Cluster } from "../cluster/client";
import { chooseForAll, type ChosenFor } from "./choose";
import type { Discovered } from "./containers";
import { discoverSpared, type DiscoveryScope } from "./discover";

/** As `chooseForAll`. If that is not possible, the reason also knows the containers that no experiment attacks. */
export async function chooseTargets(
    cluster: Cluster,
    scope: DiscoveryScope,
    discovered: readonly Discovered[],
    asked: Parameters<typeof chooseForAll>[1],
): Promise<ChosenFor[]> {
    try {
        return chooseForAll(discovered, asked);
    } catch {
        return chooseForAll(discovered, { ...asked, spared: await discoverSpared(cluster, scope) });
    }
}

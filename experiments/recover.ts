import { describeMilliseconds } from "../shared/duration";
import { gatewayService } from "../shared/gateway";
import { type Cluster, orMissing } from "../shared/kubernetes";
import { chooseRoute } from "./checks/route";
import { problemsOf, settle } from "./checks/settle";
import type { Plan } from "./plan";

const patienceMs = 60_000;
const pauseMs = 100;

/**
 * Waits until all checks find again what they ask for.
 *
 * @returns milliseconds that it took; null where the shop itself is gone, so that nothing can recover
 * @throws Error where it does not get so within a minute
 */
export async function recover(cluster: Cluster, plan: Plan): Promise<number | null> {
    const { shopNamespace, clusterName } = plan;
    const begun = Date.now();
    if (!(await orMissing(cluster.core.readNamespacedService({ name: gatewayService, namespace: shopNamespace }))))
        return null;
    const route = await chooseRoute(cluster, shopNamespace);
    const { unsettled } = await settle(plan, { cluster, route, shopNamespace, clusterName }, patienceMs, pauseMs);
    if (unsettled.length === 0) return Date.now() - begun;
    throw new Error(
        `the shop has not recovered ${describeMilliseconds(patienceMs)} after the attack was undone: ${problemsOf(unsettled).replace(/\.$/, "")}. ` +
            `Nothing of the attack is left; look at \`kubectl --namespace ${shopNamespace} get pods\`, then run pulumi again.`,
    );
}

import { setTimeout as sleep } from "node:timers/promises";
import { describeMilliseconds } from "../shared/duration";
import { gatewayService } from "../shared/gateway";
import { type Cluster, orMissing } from "../shared/kubernetes";
import { askProducts, chooseRoute } from "./checks/products";
import type { Plan } from "./plan";

const wanted = 3;
const patienceMs = 60_000;
const pauseMs = 100;

/**
 * Waits until `/products` is whole again.
 *
 * @returns milliseconds that it took; null where the shop itself is gone, so that nothing can recover
 * @throws Error where it does not get so within a minute
 */
export async function recover(cluster: Cluster, { shopNamespace, window }: Plan): Promise<number | null> {
    const begun = Date.now();
    if (!(await orMissing(cluster.core.readNamespacedService({ name: gatewayService, namespace: shopNamespace })))) return null;
    const route = await chooseRoute(cluster, shopNamespace);
    for (let row = 0; row < wanted; ) {
        const answer = await askProducts(cluster, route, window.timeoutMs);
        row = answer.good ? row + 1 : 0;
        if (Date.now() - begun > patienceMs) {
            throw new Error(
                `the shop has not recovered ${describeMilliseconds(patienceMs)} after the attack was undone: /products ${answer.problem ?? "fails now and then"}. ` +
                    `Nothing of the attack is left; look at \`kubectl --namespace ${shopNamespace} get pods\`, then run pulumi again.`,
            );
        }
        if (row < wanted) await sleep(pauseMs);
    }
    return Date.now() - begun;
}

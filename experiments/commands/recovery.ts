import { setTimeout as sleep } from "node:timers/promises";
import { describeMilliseconds } from "../../shared/duration";
import { gatewayService } from "../../shared/gateway";
import { orMissing } from "../../shared/kubernetes";
import { askProducts, chooseRoute } from "../checks/products";
import { sweep } from "../sweep";
import { runStep, say } from "./step";

const wanted = 3;
const patienceMs = 60_000;
const pauseMs = 100;

/**
 * The last step of undoing an experiment: sweeps away what a killed update may have left of it, then waits until
 * `/products` is whole again, and fails loudly where it does not get so within a minute.
 */
runStep(async ({ experiment, namespace, shopNamespace, window }, cluster) => {
    const begun = Date.now();
    const swept = await sweep(cluster, namespace, experiment);
    if (swept > 0) say(`Removed ${swept} leftovers of an update that was cut short`);
    if (!(await orMissing(cluster.core.readNamespacedService({ name: gatewayService, namespace: shopNamespace })))) {
        say("The shop is gone, so there is nothing that could recover");
        return { recoveredAfterMs: null };
    }
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
    const recoveredAfterMs = Date.now() - begun;
    say(`Recovered: /products is whole ${describeMilliseconds(recoveredAfterMs)} after the attack was undone`);
    return { recoveredAfterMs };
});

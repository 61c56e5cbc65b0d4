import * as pulumi from "@pulumi/pulumi";
import { openCluster } from "./components/cluster/cluster";
import { awaitGatewayAddress } from "./components/cluster/gatewayAddress";
import { awaitOrders } from "./components/cluster/awaitOrders";
import { stackConfiguration } from "./components/configuration/stack";
import { GatewayIngress } from "./components/shop/ingress";
import { Shop } from "./components/shop/shop";
import { Experiment } from "./experiments/experiment";
import { planOf } from "./experiments/plan";
import { savedExperiment, savedExperiments } from "./experiments/saved";
import { foreseeTargets } from "./experiments/targets/foresee";
import { productsUrl } from "./shared/gateway";

/** The stack: a shop in a cluster and, while it is enabled, an experiment on it. */
async function stack() {
    const { kubeContext, clusterName, namespace, variant, images, replicas, gateway, ingress, databaseStorage, ordersReadyTimeoutMs, experiment } =
        stackConfiguration(savedExperiments());
    const { context, provider, api } = await openCluster(kubeContext);

    const shop = new Shop("shop", { namespace, variant, images, replicas, gatewayServiceType: gateway.serviceType, databaseStorage }, { provider });
    if (ingress) new GatewayIngress("gateway", { namespace: shop.namespace, ...ingress }, { provider, parent: shop });

    const plan = planOf({ ...experiment, saved: savedExperiment(experiment.name), context: context.name, clusterName, shopNamespace: namespace });
    const run = experiment.enabled ? new Experiment(plan.experiment, { plan, image: images.node }, { provider, dependsOn: shop }) : undefined;
    if (run && pulumi.runtime.isDryRun()) await foreseeTargets(plan, api);

    const address = awaitGatewayAddress(shop.gateway.service, api, gateway.addressTimeoutMs ?? (context.local ? 15_000 : 300_000));
    return {
        variant,
        namespace: shop.namespace,
        gateway: address.apply((found) => found ?? `no external address; reach it with: kubectl --context ${context.name} --namespace ${namespace} port-forward service/gateway 8080:80`),
        ...(shop.orders && { orders: awaitOrders(shop.orders, api, ordersReadyTimeoutMs) }),
        productsUrl: address.apply((found) => found && productsUrl(found)),
        experiment: run?.conclusion ?? "disabled",
    };
}

export = () =>
    stack().catch((error: Error) => {
        // A mistake of the user's is told in its own words, without a trace through this program. The trace is also
        // what Node 20 takes a quarter of a minute to colour when the SDK asks it to.
        const told = new pulumi.RunError(error.message);
        told.stack = error.message;
        throw told;
    });

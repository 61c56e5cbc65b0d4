import * as pulumi from "@pulumi/pulumi";
import { Agent } from "./components/agent/agent";
import { readManifest } from "./components/agent/readManifest";
import { openCluster } from "./components/cluster/cluster";
import { awaitGatewayAddress } from "./components/cluster/gatewayAddress";
import { awaitOrders } from "./components/cluster/awaitOrders";
import { stackConfiguration } from "./components/configuration/stack";
import { GatewayIngress } from "./components/shop/ingress";
import { Shop } from "./components/shop/shop";
import { UserError } from "./components/userError";
import { Experiment } from "./experiments/experiment";
import { planOf } from "./experiments/plan";
import { savedExperiments, validExperiment } from "./experiments/saved";
import { foreseeTargets } from "./experiments/targets/foresee";
import { productsUrl } from "./shared/gateway";

/** The stack: a shop in a cluster and, while it is enabled, an experiment on it. */
async function stack() {
    const { kubeContext, clusterName, namespace, variant, images, replicas, gateway, ingress, databaseStorage, ordersReadyTimeoutMs, agent, experiment } =
        stackConfiguration(savedExperiments());
    const { context, provider, api } = await openCluster(kubeContext);

    const shop = new Shop("shop", { namespace, variant, images, replicas, gatewayServiceType: gateway.serviceType, databaseStorage }, { provider });
    if (ingress) new GatewayIngress("gateway", { namespace: shop.namespace, ...ingress }, { provider, parent: shop });

    const manifest = agent?.manifest === undefined ? undefined : await readManifest(agent.manifest, agent.key, clusterName);
    const installed = agent && new Agent("agent", { settings: agent, clusterName, shop: namespace, image: images.node, cluster: api, manifest }, { provider });

    const plan = planOf({ ...experiment, saved: validExperiment(experiment.name), context: context.name, clusterName, shopNamespace: namespace });
    const run = experiment.enabled ? new Experiment(plan.experiment, { plan, image: images.node }, { provider, dependsOn: shop }) : undefined;
    if (run && pulumi.runtime.isDryRun()) await foreseeTargets(plan, api);

    const address = awaitGatewayAddress(shop.gateway.service, api, gateway.addressTimeoutMs ?? (context.local ? 15_000 : 300_000));
    return {
        variant,
        namespace: shop.namespace,
        gateway: address.apply((found) => found ?? `no external address; reach it with: kubectl --context ${context.name} --namespace ${namespace} port-forward service/gateway 8080:80`),
        ...(shop.orders && { orders: awaitOrders(shop.orders, api, ordersReadyTimeoutMs) }),
        productsUrl: address.apply((found) => found && productsUrl(found)),
        agent: installed?.summary ?? "disabled",
        experiment: run?.conclusion ?? "disabled",
    };
}

export = () =>
    stack().catch((error: Error) => {
        throw new UserError(error.message);
    });

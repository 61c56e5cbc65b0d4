import * as pulumi from "@pulumi/pulumi";
import { Agent } from "./components/agent/agent";
import { readManifest } from "./components/agent/readManifest";
import { openCluster } from "./components/cluster/cluster";
import { awaitGatewayAddress } from "./components/cluster/gatewayAddress";
import { wayToGateway } from "./components/cluster/gatewayWay";
import { awaitWorkloads } from "./components/cluster/workloads";
import { stackConfiguration } from "./components/configuration/stack";
import { installShop } from "./components/install/install";
import { placement } from "./components/program/placement";
import { ingressUrl } from "./components/shop/ingress";
import { UserError } from "./components/userError";
import { Experiment } from "./experiments/experiment";
import { planOf } from "./experiments/plan";
import { savedExperiments, validExperiment } from "./experiments/saved";
import { foreseeTargets } from "./experiments/targets/foresee";
import { productsUrl } from "./shared/gateway";
import { reasonOf } from "./shared/kubernetes";
import { releaseLockIfKilled } from "./shared/stackLock";

/** The stack: a shop in a cluster and, while it is enabled, an experiment on it. */
async function stack() {
    releaseLockIfKilled(pulumi.getStack());
    const configuration = stackConfiguration(savedExperiments());
    const { clusterName, namespace, variant, images, gateway, ingress, agent, experiment } = configuration;
    const { context, provider, api } = await openCluster(configuration.kubeContext, {
        namespace,
        "agent.namespace": agent?.namespace,
    });
    const opts = { provider, transformations: placement(configuration.placement) };

    const shop = await installShop("shop", configuration, api, opts);
    const manifest =
        agent?.manifest === undefined ? undefined : await readManifest(agent.manifest, agent.key, clusterName);
    const installed =
        agent &&
        new Agent(
            "agent",
            { settings: agent, clusterName, shop: namespace, image: images.node, cluster: api, manifest },
            agent.install === "builtin" ? opts : { provider },
        );

    const plan = planOf({
        ...experiment,
        saved: validExperiment(experiment.name),
        context: context.name,
        clusterName,
        shopNamespace: namespace,
    });
    const run = experiment.enabled
        ? new Experiment(plan.experiment, { plan, image: images.node }, { ...opts, dependsOn: shop.whenReady })
        : undefined;
    if (run && pulumi.runtime.isDryRun()) await foreseeTargets(plan, api);

    const address = awaitGatewayAddress(
        shop.gateway.service,
        api,
        gateway.addressTimeoutMs ?? (context.local ? 15_000 : 300_000),
    );
    return {
        variant,
        namespace: shop.namespace,
        gateway: address.apply((found) => found ?? wayToGateway(context, namespace, gateway.serviceType)),
        workloads: awaitWorkloads(shop, namespace, api, configuration.ordersReadyTimeoutMs),
        productsUrl: address.apply((found) => (found ? productsUrl(found) : ingress && ingressUrl(ingress))),
        agent: installed?.summary ?? "disabled",
        experiment: run?.conclusion ?? "disabled",
    };
}

export = () =>
    stack().catch((error: unknown) => {
        throw new UserError(reasonOf(error));
    });

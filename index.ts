// First: it changes how messages are shown, before there are any.
import "./toolchain/redact-debug-messages";

import { Experiment } from "./chaos/index";
import { installAgent } from "./components/agent/agent";
import { openCluster } from "./components/cluster/cluster";
import { firstLook } from "./components/cluster/state-records";
import { gatewayOutputs } from "./components/cluster/gateway-outputs";
import { guardDestroy } from "./components/cluster/destroying/guard";
import { awaitWorkloads } from "./components/cluster/workloads";
import { experimentSettings } from "./components/configuration/experiment";
import { stackConfiguration } from "./components/configuration/read";
import { installShop } from "./components/install/install";
import { withUserErrors } from "./components/user-error";
import { endAttacksFirst, planOnShop } from "./experiments/run";
import { savedExperiments } from "./experiments/saved";
import { experimentPrograms } from "./toolchain/programs";

/** The stack: a shop in a cluster, an agent beside it and, while it is enabled, an experiment on the shop. */
export = withUserErrors(async () => {
    const look = await firstLook();
    const configured = () => stackConfiguration(savedExperiments());
    await endAttacksFirst(look, (name) => planOnShop(experimentSettings(configured(), { name })));
    const configuration = configured();
    const { namespace, variant, images, experiment, ordersReadyTimeoutMs } = configuration;
    const cluster = await openCluster(configuration, look?.identity);
    const plan = planOnShop(experimentSettings(configuration, cluster.context));
    const shop = await installShop("shop", configuration, cluster);
    const agent = await installAgent("agent", configuration, cluster);
    const args = { enabled: true, identity: cluster.identity, plan, image: images.node, programs: experimentPrograms };
    const opts = { ...cluster.opts, dependsOn: shop.whenReady };
    // Its name stays when a setting names another experiment, which must not run beside the first.
    const run = experiment.enabled ? new Experiment("experiment", args, opts) : undefined;
    guardDestroy(configuration, cluster, [shop, agent, run]);
    return {
        variant,
        namespace: shop.namespace,
        ...gatewayOutputs(shop.gateway.service, configuration, cluster),
        workloads: awaitWorkloads(shop, namespace, cluster.api, ordersReadyTimeoutMs),
        agent: agent?.summary ?? "disabled",
        experiment: run?.conclusion ?? "disabled",
    };
});

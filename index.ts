import "./toolchain/redact-debug-messages"; // First: it changes how messages are shown, before there are any.
import { checkedAgent } from "./components/agent/agent";
import { experimentPods } from "./components/base/placement";
import { firstLook, openCluster } from "./components/cluster/cluster";
import { gatewayOutputs } from "./components/cluster/gateway-outputs";
import { guardDestroy } from "./components/cluster/destroying/guard";
import { awaitWorkloads } from "./components/cluster/workloads";
import { experimentSettings, stackConfiguration } from "./components/configuration/read";
import { installShop } from "./components/install/install";
import { withUserErrors } from "./components/user-error";
import { endAttacksFirst, planOnShop, runOnShop } from "./experiments/run";
import { savedExperiments } from "./experiments/saved";
import { experimentPrograms } from "./toolchain/experiment-programs";
import { requireNoOtherCheckout } from "./toolchain/pulumi/environment";

/** The stack: a shop in a cluster, an agent beside it and, while it is enabled, an experiment on the shop. */
export = withUserErrors(async () => {
    requireNoOtherCheckout(process.cwd());
    const look = await firstLook();
    const configured = () => stackConfiguration(savedExperiments());
    await endAttacksFirst(look, (name) => planOnShop(experimentSettings(configured(), { name })));
    const configuration = configured();
    const cluster = await openCluster(configuration, look?.identity);
    const plan = planOnShop(experimentSettings(configuration, cluster.context));
    const installAgent = await checkedAgent("agent", configuration, cluster);
    const shop = await installShop("shop", configuration, cluster);
    const agent = installAgent();
    const { experiment, images, placement } = configuration;
    const args = { image: images.node, pod: experimentPods(placement), programs: experimentPrograms };
    const run = experiment.enabled ? runOnShop(plan, cluster, args, shop.whenReady) : undefined;
    guardDestroy(configuration, cluster, [shop, agent, run], { objects: agent?.guarded, attacked: plan.namespace });
    return {
        variant: configuration.variant,
        namespace: shop.namespace,
        ...gatewayOutputs(shop.gateway.service, configuration, cluster),
        workloads: awaitWorkloads(shop, configuration, cluster),
        agent: agent?.summary ?? "disabled",
        experiment: run?.conclusion ?? "disabled",
    };
});

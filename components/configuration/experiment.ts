import { builtinAgent } from "../agent/reference";
import type { AllowedContext } from "../../chaos/cluster/guard";
import { gatewayOf } from "../shop/gateway";
import type { StackConfiguration } from "./read";

/** The settings of the stack's experiment: its own, and where the shop and the agent are. */
export function experimentSettings(configuration: StackConfiguration, context: Pick<AllowedContext, "name">) {
    const { experiment, clusterName, namespace, agent } = configuration;
    const service = gatewayOf(namespace);
    return { ...experiment, clusterName, context: context.name, service, agent: builtinAgent(agent) };
}

import type { AllowedContext } from "../../chaos/cluster/guard";
import type { AgentReference } from "../../chaos/targets/agents";
import { gatewayOf } from "../shop/gateway";
import { runningStack } from "../pulumi-command";
import type { AgentSettings, StackConfiguration } from "./read";

/** Name of the agent: of its component, and of the builtin agent's DaemonSet. */
export const agentName = "agent";

/** The agent that experiments ask. Undefined without one, and for a vendor's, which reports only to its platform. */
export function builtinAgent(
    settings: Pick<AgentSettings, "install" | "namespace"> | undefined,
): AgentReference | undefined {
    return settings?.install === "builtin" ? { namespace: settings.namespace, name: agentName } : undefined;
}

/** The settings of the stack's experiment: its own, and where the shop and the agent are. */
export function experimentSettings(configuration: StackConfiguration, context: Pick<AllowedContext, "name">) {
    const { experiment, clusterName, namespace, agent } = configuration;
    const service = gatewayOf(namespace);
    const stack = runningStack() || undefined;
    return { ...experiment, clusterName, context: context.name, stack, service, agent: builtinAgent(agent) };
}

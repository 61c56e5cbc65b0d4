import type { AgentReference } from "../../chaos/targets/agents";
import type { AgentSettings } from "../configuration/read";

/** Name of the agent: of its component, and of the builtin agent's DaemonSet. */
export const agentName = "agent";

/** The agent that experiments ask. Undefined without an agent, and for a vendor's, which tells only its platform. */
export function builtinAgent(
    settings: Pick<AgentSettings, "install" | "namespace"> | undefined,
): AgentReference | undefined {
    return settings?.install === "builtin" ? { namespace: settings.namespace, name: agentName } : undefined;
}

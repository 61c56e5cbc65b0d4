/** What the builtin agent, and those who look for it and ask it, have to agree on. */

/** Labels of the agent's objects. */
export const agentLabels = { "app.kubernetes.io/name": "agent", "app.kubernetes.io/part-of": "chaos-shop" } as const;

/** On the agent's DaemonSet: the namespace of the shop that it was installed with. */
export const agentOfShop = "chaos-shop/agent-of";

export const agentPort = 8080;

/** Where the agent lists the containers of its node. */
export const targetsPath = "/targets";

/** The key of a caller that comes through the API server, which keeps `Authorization` for itself. */
export const agentKeyHeader = "X-Agent-Key";

/** Name of the entry of the agent's Secret. */
export const agentKeyEntry = "key";

/** What the builtin agent and its clients agree on. */

export const agentLabels = { "app.kubernetes.io/name": "agent", "app.kubernetes.io/part-of": "chaos-shop" } as const;

/** Label on the agent's DaemonSet, for people: the namespace of the application that it was installed with. */
export const agentOf = "chaos-shop/agent-of";

export const agentPort = 8080;

/** Path at which an agent lists the containers of its node. */
export const targetsPath = "/targets";

/** Header with the caller's key. The API server's proxy does not pass `Authorization` on. */
export const agentKeyHeader = "X-Agent-Key";

/** Entry of the agent's Secret that holds the key. */
export const agentKeyEntry = "key";

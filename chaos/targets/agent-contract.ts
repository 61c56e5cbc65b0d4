/** What the builtin agent and its clients agree on. */

export const agentPort = 8080;

/** Path at which an agent lists the containers of its node. */
export const targetsPath = "/targets";

/** Header with the caller's key. The API server's proxy does not pass `Authorization` on. */
export const agentKeyHeader = "X-Agent-Key";

/** Entry of the agent's Secret that holds the key. */
export const agentKeyEntry = "key";

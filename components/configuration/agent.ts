import { sourceMistakes } from "./install";
import { type Found, setCommand } from "./mistakes";
import type { Surroundings, Values } from "./settings";

/** Makes a key and sets it. The key appears neither on the screen nor in a process's arguments. */
export const newKeyCommand = "openssl rand -hex 32 | pulumi config set --secret agent.key";

export const defaultAgentNamespace = (shop: string) => `${shop}-agent`;

/** Prompts for a key and sets it. */
export const keyCommand = "pulumi config set --secret agent.key";

/**
 * Finds the mistakes in the settings `agent.*` of an agent that is to be installed.
 *
 * @param get a setting's value; undefined if it is unset or invalid
 */
export function agentMistakes(get: Values, around: Surroundings): Found[] {
    const mistakes = plaintextKey(get, around);
    if (get("agent.enabled") !== true) return mistakes;
    return [...mistakes, ...missingKey(get), ...namespaceOfShop(get), ...sourceMistakes(get, "agent")];
}

/** A key in plain text is a mistake even if no agent uses it: the stack's file is under version control. */
function plaintextKey(get: Values, { project, isSecret }: Surroundings): Found[] {
    if (get("agent.key") === undefined || isSecret?.(`${project}:agent.key`)) return [];
    const reason =
        "it is in plain text in the stack's file; allowed: a secret. The command prompts for it. Use a new key";
    return [{ key: "agent.key", reason, command: keyCommand }];
}

function missingKey(get: Values): Found[] {
    if (get("agent.key") !== undefined) return [];
    const builtin = get("agent.install") === "builtin";
    const allowed = builtin ? "any key" : "the key from the platform's agent setup section";
    const reason =
        `the agent is enabled and needs a key; allowed: ${allowed}. ` +
        "Without an agent: pulumi config set agent.enabled false";
    return [{ key: "agent.key", reason, command: builtin ? newKeyCommand : keyCommand }];
}

function namespaceOfShop(get: Values): Found[] {
    const [agent, shop] = [get("agent.namespace"), get("namespace")];
    if (agent === undefined || agent !== shop) return [];
    const reason = "it is the shop's namespace; allowed: a separate namespace";
    const command = setCommand("agent.namespace", defaultAgentNamespace(shop));
    return [{ key: "agent.namespace", reason, command }];
}

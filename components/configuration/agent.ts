import type { AgentReference } from "../../chaos/targets/agents";
import { sourceMistakes } from "./install";
import { setCommand } from "../pulumi-command";
import { type Found, setSecretCommand } from "./mistakes";
import type { Given, Values } from "./settings";
import { label } from "./readers";

/** Makes a key and sets it. The key appears neither on the screen nor in a process's arguments. */
export const newKeyCommand = (stack?: string) => `openssl rand -hex 32 | ${setSecretCommand("agent.key", stack)}`;

/** Name of the agent: of its component, and of the builtin agent's DaemonSet. */
export const agentName = "agent";

/** The agent that experiments ask. Undefined without one, and for a vendor's, which reports only to its platform. */
export function builtinAgent(settings: { install: string; namespace: string } | undefined): AgentReference | undefined {
    return settings?.install === "builtin" ? { namespace: settings.namespace, name: agentName } : undefined;
}

export const defaultAgentNamespace = (shop: string) => `${shop}-agent`;

/** In characters, for a shop whose agent's namespace is named after it. A namespace has at most 63. */
export const longestShopNamespace = 63 - defaultAgentNamespace("").length;

export function agentMistakes({ get, own }: Given): Found[] {
    if (get("agent.enabled") !== true) return [];
    return [
        // An invalid one is reported by itself.
        ...(own.has("agent.key") ? [] : missingKey(get)),
        ...namespaceOfShop(get),
        ...namespaceTooLong(get),
        ...sourceMistakes(get, "agent"),
    ];
}

/** A key in plain text is a mistake even if no agent uses it: the stack's file is under version control. */
export function plaintextKey({ get, around: { project, isSecret } }: Given): Found[] {
    if (get("agent.key") === undefined || isSecret?.(`${project}:agent.key`)) return [];
    const reason = "it is in plain text in the stack's file; allowed: a secret. Use a new key";
    return [{ key: "agent.key", reason, mend: { "agent.key": "<AGENT_KEY>" } }];
}

function missingKey(get: Values): Found[] {
    const allowed = get("agent.install") === "builtin" ? "any key" : "the key from the platform's agent setup section";
    const reason =
        `the agent is enabled and needs a key; allowed: ${allowed}. ` +
        `Without an agent: ${setCommand("agent.enabled", "false")}`;
    return [{ key: "agent.key", reason, mend: { "agent.key": "<AGENT_KEY>" } }];
}

function namespaceOfShop(get: Values): Found[] {
    const [agent, shop] = [get("agent.namespace"), get("namespace")];
    if (agent === undefined || agent !== shop) return [];
    const reason = "it is the shop's namespace; allowed: a separate namespace";
    return [{ key: "agent.namespace", reason, mend: { "agent.namespace": defaultAgentNamespace(shop) } }];
}

function namespaceTooLong(get: Values): Found[] {
    const shop = get("namespace");
    if (shop === undefined || get("agent.namespace") !== undefined || label.read(defaultAgentNamespace(shop)))
        return [];
    const reason =
        `the agent's namespace would be ${defaultAgentNamespace(shop)}, which is too long; ` +
        `allowed: at most ${longestShopNamespace} characters, or any namespace with agent.namespace set`;
    const shortened = defaultAgentNamespace(shop.slice(0, longestShopNamespace));
    return [{ key: "namespace", reason, mend: { "agent.namespace": shortened } }];
}

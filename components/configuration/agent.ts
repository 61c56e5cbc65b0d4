import { manifestMistakes, valuesFileMistakes } from "./files";
import { type Mistake, setCommand } from "./mistakes";
import type { Surroundings } from "./read";
import type { Key, ReadAs } from "./settings";

/** Makes a key and sets it without its ever being on the screen or among a process's arguments. */
export const newKeyCommand = "openssl rand -hex 32 | pulumi config set --secret agent.key";

/** Asks for a key and sets it. */
export const keyCommand = "pulumi config set --secret agent.key";

/**
 * What is wrong with the settings of an agent that is to be installed.
 *
 * @param get what a key was read as; undefined where it is not set, or wrong by itself
 */
export function agentMistakes(
    get: <K extends Key>(key: K) => ReadAs<K> | undefined,
    { project, isSecret }: Surroundings,
): Mistake[] {
    const key = get("agent.key");
    const mistakes: Mistake[] = [];
    // A key that is not used, too: it stands in the stack's file, which is in version control.
    if (key !== undefined && !isSecret?.(`${project}:agent.key`)) {
        mistakes.push({
            key: "agent.key",
            value: key,
            reason: "it is kept in the clear in the stack's file; allowed: a secret. The command asks for it. What was in the clear is better changed",
            command: keyCommand,
        });
    }
    if (get("agent.enabled") !== true) return mistakes;
    const install = get("agent.install");
    if (key === undefined) {
        mistakes.push({
            key: "agent.key",
            reason: `the agent is enabled and asks for a key; ${install === "builtin" ? "any will do" : "allowed: the one from the platform's agent setup section"}. Without an agent: pulumi config set agent.enabled false`,
            command: install === "builtin" ? newKeyCommand : keyCommand,
        });
    }
    if (get("agent.namespace") !== undefined && get("agent.namespace") === get("namespace")) {
        mistakes.push({
            key: "agent.namespace",
            value: get("namespace")!,
            reason: "the shop is there; allowed: a namespace of the agent's own",
            command: setCommand("agent.namespace", `${get("namespace")}-agent`),
        });
    }
    const [manifest, values] = [get("agent.manifest"), get("agent.values")];
    if (install === "manifest" && manifest === undefined) {
        mistakes.push({
            key: "agent.manifest",
            reason: "agent.install is manifest; allowed: the path or URL of one",
            command: setCommand("agent.manifest", "agent.yaml"),
        });
    }
    if (install === "manifest" && manifest !== undefined)
        mistakes.push(...manifestMistakes("agent.manifest", manifest));
    if (install === "chart" && values !== undefined) mistakes.push(...valuesFileMistakes("agent.values", values));
    return mistakes;
}

import { setCommand } from "../components/pulumi-command";

/**
 * The settings of a command line with which an update would delete the installed shop, with its data, to make another.
 * The next one without them would do so again.
 *
 * @param installed what the shop has now. Undefined for what is not known
 * @returns what to do instead. Undefined if there is none
 */
export function mistakesInMove(
    set: Record<string, string>,
    installed: Record<"namespace" | "install", string | undefined>,
    stack: string,
): string | undefined {
    const moving = (["namespace", "install"] as const).filter(
        (key) => installed[key] !== undefined && (set[key] ?? installed[key]) !== installed[key],
    );
    const lines = moving.map(
        (key) =>
            `--set ${key}=${set[key]} would delete the installed shop (${key} ${installed[key]}), with its data; ` +
            `to keep the shop, omit it; to make another, also for later updates: ` +
            setCommand(key, set[key]!, stack),
    );
    return lines.length === 0 ? undefined : lines.join("\n");
}

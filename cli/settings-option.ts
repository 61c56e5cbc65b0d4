/**
 * Parses options `--set KEY=VALUE`.
 *
 * @throws Error if one has another form, or would expose a secret
 */
export function settingsIn(pairs: readonly string[]): Record<string, string> {
    return Object.fromEntries(
        pairs.map((pair) => {
            const at = pair.indexOf("=");
            if (at < 1) throw new Error(`--set ${pair} is not KEY=VALUE; example: --set experiment.radius=50%`);
            const key = pair.slice(0, at);
            // Every user of the machine can read a command's arguments.
            if (/(?:^|\.)(?:key|password|token)$/.test(key))
                throw new Error(
                    `--set ${key} would expose a secret; set it for the stack: pulumi config set --secret ${key}`,
                );
            return [key, pair.slice(at + 1)];
        }),
    );
}

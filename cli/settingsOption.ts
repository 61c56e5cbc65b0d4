/**
 * Settings that were given as `--set KEY=VALUE`.
 *
 * @throws Error where one is not of that form, or would show a secret
 */
export function settingsIn(pairs: readonly string[]): Record<string, string> {
    return Object.fromEntries(
        pairs.map((pair) => {
            const at = pair.indexOf("=");
            if (at < 1)
                throw new Error(`--set ${pair} is not KEY=VALUE; write for example --set experiment.radius=50%`);
            const key = pair.slice(0, at);
            // What is in a command's arguments is for every user of the machine to read.
            if (/(?:^|\.)(?:key|password|token)$/.test(key))
                throw new Error(
                    `--set ${key} would show a secret; set it for the stack: pulumi config set --secret ${key}`,
                );
            return [key, pair.slice(at + 1)];
        }),
    );
}

import { load } from "js-yaml";
import { existsSync, readFileSync } from "node:fs";
import { isUrl } from "../manifest/read";
import { type Mistake, setCommand } from "./mistakes";
import { type Key, settings } from "./settings";

/** What is wrong with where a manifest is said to be. */
export function manifestMistakes(key: Key & ("manifest" | "agent.manifest"), location: string): Mistake[] {
    if (isUrl(location) || existsSync(location)) return [];
    return [
        {
            key,
            value: location,
            reason: "there is no such file; allowed: a path from the project's folder, or a URL",
            command: setCommand(key, settings[key].example!),
        },
    ];
}

/** What is wrong with a chart's values file. */
export function valuesFileMistakes(key: Key & ("chart.values" | "agent.values"), path: string): Mistake[] {
    const problem = valuesFileProblem(path);
    return problem === undefined
        ? []
        : [{ key, value: path, reason: problem, command: setCommand(key, settings[key].example!) }];
}

function valuesFileProblem(path: string): string | undefined {
    if (!existsSync(path)) return "there is no such file; allowed: a path from the project's folder";
    try {
        const values: unknown = load(readFileSync(path, "utf8"));
        // Helm takes an empty file, too.
        if (values === undefined || values === null || (typeof values === "object" && !Array.isArray(values)))
            return undefined;
        return "it holds no values; allowed: YAML with a name before each value";
    } catch (error) {
        // Not the parser's own words, which quote the file: a password may be in it.
        const { line } = (error as { mark?: { line: number } }).mark ?? {};
        return `it is not YAML${line === undefined ? "" : `: look at line ${line + 1}`}; allowed: a file of YAML`;
    }
}

import { JSON_SCHEMA, load } from "js-yaml";
import { textOf } from "../manifest/read";
import type { Chart } from "./chart";
import { nearestFirst } from "../configuration/mistakes";
import { settings } from "../configuration/settings";
import { setCommand } from "../pulumi-command";

/** A semantic version, with or without what comes after `-` and `+`. */
const oneVersion = /^v?\d+\.\d+\.\d+(?:-[\w.-]+)?(?:\+[\w.-]+)?$/;

/**
 * Checks that a chart is in its repository. When a chart replaces another shop, Helm would report a missing chart only
 * after that shop is gone.
 *
 * @throws Error that names what is missing and what exists
 */
export async function requireChart({ repo, name, version }: Chart): Promise<void> {
    const index = await readIndex(repo).catch((error: Error) => {
        const cause = error.cause instanceof Error ? error.cause.message : error.message;
        throw refusal(
            "chart.repo",
            repo,
            `cannot be read as a chart repository: index.yaml: ${cause}`,
            settings["chart.repo"].default,
        );
    });
    const versions = index[name]?.map((entry) => entry.version);
    if (versions === undefined) {
        const names = nearestFirst(name, Object.keys(index));
        throw refusal("chart.name", name, `${repo} does not have; allowed: ${names.join(", ")}`, names[0] ?? "NAME");
    }
    // Helm resolves a range of versions, such as `1.0.0 - 1.9.0`.
    if (version !== undefined && oneVersion.test(version) && !versions.includes(version)) {
        const allowed = versions.slice(0, 10).join(", ");
        throw refusal(
            "chart.version",
            version,
            `${repo} does not have for ${name}; allowed: ${allowed}`,
            versions[0] ?? "VERSION",
        );
    }
}

function refusal(key: string, value: string, reason: string, example: string): Error {
    return new Error(
        `${key} is "${value}", which ${reason}. Nothing was touched; fix it with: ` + setCommand(key, example),
    );
}

async function readIndex(repo: string): Promise<Record<string, { version: string }[]>> {
    const text = await textOf(`${repo.replace(/\/$/, "")}/index.yaml`);
    const index = load(text, { schema: JSON_SCHEMA }) as
        { entries?: Record<string, { version: string }[]> } | undefined;
    if (index?.entries === undefined) throw new Error("it lists no charts");
    return index.entries;
}

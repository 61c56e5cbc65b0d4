import { JSON_SCHEMA, load } from "js-yaml";
import type { Chart } from "./chart";

const fetchTimeoutMs = 15_000;

/**
 * Makes sure that a chart is in its repository: where it takes the place of another shop, Helm would find out only when
 * that is gone.
 *
 * @throws Error that names what is not there, and what is
 */
export async function requireChart({ repo, name, version }: Chart): Promise<void> {
    const index = await readIndex(repo).catch((error: Error) => {
        const cause = error.cause instanceof Error ? error.cause.message : error.message;
        throw new Error(
            `chart.repo is "${repo}", which is no chart repository that can be read: ${cause}. Nothing was touched; mend it with: pulumi config set chart.repo URL`,
        );
    });
    const versions = index[name]?.map((entry) => entry.version);
    if (versions === undefined) {
        throw new Error(
            `chart.name is "${name}", which ${repo} does not have; allowed: ${Object.keys(index).join(", ")}. Nothing was touched; mend it with: pulumi config set chart.name NAME`,
        );
    }
    // A range of versions is Helm's to judge.
    if (version !== undefined && /^v?\d+\.\d+\.\d+/.test(version) && !versions.includes(version)) {
        throw new Error(
            `chart.version is "${version}", which ${repo} does not have of ${name}; allowed: ${versions.slice(0, 10).join(", ")}. Nothing was touched; mend it with: pulumi config set chart.version VERSION`,
        );
    }
}

async function readIndex(repo: string): Promise<Record<string, { version: string }[]>> {
    const response = await fetch(`${repo.replace(/\/$/, "")}/index.yaml`, {
        signal: AbortSignal.timeout(fetchTimeoutMs),
    });
    if (!response.ok) throw new Error(`status ${response.status} for its index.yaml`);
    const index = load(await response.text(), { schema: JSON_SCHEMA }) as
        { entries?: Record<string, { version: string }[]> } | undefined;
    if (index?.entries === undefined) throw new Error("its index.yaml lists no charts");
    return index.entries;
}

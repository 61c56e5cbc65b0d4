import { load } from "js-yaml";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { StackConfiguration } from "../../components/configuration/read";
import { chartFolder, renderChart } from "./chart";
import { manifestsFolder, renderManifests } from "./manifests";
import type { KubernetesObject } from "./collect";
import type { SecretData } from "./objects";

/**
 * Writes the shop as manifests and as a chart.
 *
 * @param folder created if it does not exist. An earlier rendering in it is replaced, but its passwords are kept
 * @returns the paths of the files, relative to the folder
 */
export async function render(configuration: StackConfiguration, folder: string): Promise<string[]> {
    const files = [
        ...(await renderManifests(configuration, passwordsIn(join(folder, manifestsFolder)))),
        ...(await renderChart(configuration)),
    ];
    // Only now: if rendering fails, the earlier files stay.
    for (const own of [manifestsFolder, chartFolder]) rmSync(join(folder, own), { recursive: true, force: true });
    for (const { path, text, secret } of files) {
        mkdirSync(join(folder, dirname(path)), { recursive: true });
        writeFileSync(join(folder, path), text, { mode: secret ? 0o600 : 0o644 });
    }
    return files.map(({ path }) => path);
}

/** The passwords of an earlier rendering. New ones would roll the pods of a shop that was installed from it. */
function passwordsIn(folder: string): SecretData {
    if (!existsSync(folder)) return {};
    const secrets = readdirSync(folder)
        .filter((file) => file.includes("-secret-"))
        .map((file) => load(readFileSync(join(folder, file), "utf8")) as KubernetesObject);
    return Object.fromEntries(secrets.map(({ metadata, data }) => [metadata.name, data as Record<string, string>]));
}

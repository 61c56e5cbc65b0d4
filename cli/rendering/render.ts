import { load } from "js-yaml";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { placement } from "../../components/base/placement";
import type { StackConfiguration } from "../../components/configuration/read";
import { Shop } from "../../components/shop/shop";
import { chartFolder, renderChart } from "./chart";
import { fileNameOf, objectsOf, rankOf, type RenderedFile, type SecretData, yamlOf } from "./objects";
import type { ManifestObject } from "../../components/manifest/read";

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
        .map((file) => load(readFileSync(join(folder, file), "utf8")) as ManifestObject);
    return Object.fromEntries(secrets.map(({ metadata, data }) => [metadata.name, data as Record<string, string>]));
}

export const manifestsFolder = "manifests";

const secretNote =
    "# Random passwords. Rendering again into the same folder keeps them. Keep this file out of version control.\n";

/**
 * The shop as manifests for `kubectl apply --filename FOLDER`. They are numbered, since kubectl applies files by name.
 *
 * @param kept the passwords of an earlier rendering. @default new passwords
 */
async function renderManifests(configuration: StackConfiguration, kept?: SecretData): Promise<RenderedFile[]> {
    const objects = await objectsOf(
        () => new Shop("shop", configuration, { transformations: placement(configuration.placement) }),
        kept,
    );
    return objects.map((object) => {
        const secret = object.kind === "Secret";
        return {
            path: `${manifestsFolder}/${rankOf(object)}-${fileNameOf(object)}`,
            text: (secret ? secretNote : "") + yamlOf(object),
            secret,
        };
    });
}

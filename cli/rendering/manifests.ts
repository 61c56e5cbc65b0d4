import type { StackConfiguration } from "../../components/configuration/read";
import { shopArgsOf } from "../../components/install/install";
import { placement } from "../../components/program/placement";
import { Shop } from "../../components/shop/shop";
import { fileNameOf, type RenderedFile, yamlOf } from "./files";
import { objectsOf, rankOf, type SecretData } from "./objects";

/** Where the manifests are in a rendering. */
export const manifestsFolder = "manifests";

const secretNote =
    "# Drawn for this rendering, and kept when it is rendered again into the same folder. Leave this file out of version control.\n";

/**
 * The shop as manifests that `kubectl apply --filename FOLDER` takes as they are: numbered, since it takes them in the
 * order of their names.
 *
 * @param kept the passwords of an earlier rendering. @default new ones are drawn
 */
export async function renderManifests(configuration: StackConfiguration, kept?: SecretData): Promise<RenderedFile[]> {
    const objects = await objectsOf(
        () => new Shop("shop", shopArgsOf(configuration), { transformations: placement(configuration.placement) }),
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

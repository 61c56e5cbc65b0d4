import type { StackConfiguration } from "../../components/configuration/read";
import { shopArgsOf } from "../../components/install/install";
import { placement } from "../../components/base/placement";
import { Shop } from "../../components/shop/shop";
import { fileNameOf, type RenderedFile, yamlOf } from "./files";
import { objectsOf, rankOf, type SecretData } from "./objects";

/** The manifests' folder in a rendering. */
export const manifestsFolder = "manifests";

const secretNote =
    "# Random passwords. Rendering again into the same folder keeps them. Keep this file out of version control.\n";

/**
 * The shop as manifests for `kubectl apply --filename FOLDER`. They are numbered, since kubectl applies files by name.
 *
 * @param kept the passwords of an earlier rendering. @default new passwords
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

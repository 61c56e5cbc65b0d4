import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { StoredPart, Workshop } from "../../toolchain/parts/part";
import { folderOf } from "../../toolchain/parts/store";
import { debianPackages } from "./debian-packages";
import { type DebianRoot, makeDebianRoot } from "./debian-root";
import { type ImageConfig, packLayer, writeImageArchive } from "./image-archive";

/** The archive in an image's part, and the layer in {@link imageBase}'s. */
export const ARCHIVE = "image.tar";
export const LAYER = "layer.tar";

const sourceFolder = join(__dirname, "..");

/** Useless in a container, and different in each build: caches, logs, lists, devices. */
const NOT_PACKED = [
    "./var/cache/*",
    "./var/log/*",
    "./var/lib/apt/lists/*",
    "./var/lib/dpkg/*-old",
    "./dev/*",
    "./proc/*",
    "./sys/*",
    "./tmp/*",
    "./etc/machine-id",
];

const BASE: DebianRoot = { packages: ["libstdc++6"] };

/** Debian's essential packages as a layer: the base of the Node and NATS images. */
export const imageBase: StoredPart = {
    kind: "stored",
    name: "image-base",
    version: "bookworm",
    title: "Base of the images (Debian)",
    minutes: 0.6,
    needs: [debianPackages],
    recipe: { ...BASE, excluded: NOT_PACKED },
    sources: ["parts/debian-root.ts"],
    sourceFolder,
    async make(folder, { log }) {
        const root = join(folder, "root");
        const versions = await makeDebianRoot(BASE, root, log);
        await packLayer(root, join(folder, LAYER), log, NOT_PACKED);
        rmSync(root, { recursive: true });
        return versions;
    },
};

/** How one image is built. */
export interface ImageRecipe extends Pick<StoredPart, "name" | "version" | "title" | "minutes"> {
    /** Its names: the same that the shop requests from a registry elsewhere. */
    readonly references: readonly string[];
    /** Whether {@link imageBase} is its lowest layer. */
    readonly base: boolean;
    /** A further part that it needs. */
    readonly also?: StoredPart;
    readonly config: ImageConfig;
    /** All further inputs of `fill`. Plain JSON. */
    readonly settings: unknown;
    /** Fills the image's own layer. @returns the versions of what it put there */
    readonly fill: (root: string, workshop: Workshop) => Promise<Record<string, string>>;
}

export interface ImagePart extends StoredPart, Pick<ImageRecipe, "references"> {}

export function imagePart(image: ImageRecipe): ImagePart {
    const { references, base, also, config, settings, fill, ...about } = image;
    return {
        ...about,
        references,
        kind: "stored",
        needs: [debianPackages, ...(base ? [imageBase] : []), ...(also ? [also] : [])],
        recipe: { references, config, settings, excluded: NOT_PACKED },
        sources: ["parts/images.ts", "parts/image-recipes.ts", "parts/image-archive.ts", "parts/debian-root.ts"],
        sourceFolder,
        async make(folder, workshop) {
            const root = join(folder, "root");
            const layer = join(folder, LAYER);
            mkdirSync(root);
            const facts = await fill(root, workshop);
            await packLayer(root, layer, workshop.log, NOT_PACKED);
            rmSync(root, { recursive: true });
            const layers = [...(base ? [join(folderOf(imageBase), LAYER)] : []), layer];
            await writeImageArchive({ references, config, labels: facts, layers }, join(folder, ARCHIVE), workshop.log);
            rmSync(layer);
            return facts;
        },
    };
}

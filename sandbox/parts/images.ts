import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type DebianRoot, makeDebianRoot } from "./debian-root";
import { type ImageConfig, packLayer, writeImageArchive } from "./image-archive";
import { NODE_VERSION } from "./node-program";
import type { PartName, StoredPart, Workshop } from "./part";

/** An image that the sandbox brings, under the very names that the shop asks a registry for elsewhere. */
export interface SandboxImage {
    readonly part: PartName;
    readonly references: readonly string[];
}

/** The images, by the part that makes each. */
export const IMAGES: readonly SandboxImage[] = [
    { part: "image-pause", references: ["registry.k8s.io/pause:3.10"] },
    { part: "image-coredns", references: ["registry.k8s.io/coredns/coredns:v1.14.3"] },
    { part: "image-node", references: [`docker.io/library/node:${NODE_VERSION}-bookworm-slim`] },
    { part: "image-postgres", references: ["docker.io/library/postgres:15.18-bookworm"] },
    { part: "image-nats", references: ["docker.io/library/nats:2.9.10-alpine", "docker.io/library/nats:2.9.10"] },
];

/** The archive in an image's part, and the layer in {@link imageBase}'s. */
export const ARCHIVE = "image.tar";
export const LAYER = "layer.tar";

/** Of no use in a container, and different each time: caches, logs, lists, devices. */
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

/** Debian's essential packages as a layer: what the Node and NATS images stand on. */
export const imageBase: StoredPart = {
    kind: "stored",
    name: "image-base",
    version: "bookworm",
    title: "Base of the images (Debian)",
    minutes: 0.6,
    needs: ["debian-packages"],
    recipe: { ...BASE, excluded: NOT_PACKED },
    sources: ["parts/debian-root.ts"],
    async make(folder, { log }) {
        const root = join(folder, "root");
        const versions = await makeDebianRoot(BASE, root, log);
        await packLayer(root, join(folder, LAYER), log, NOT_PACKED);
        rmSync(root, { recursive: true });
        return versions;
    },
};

/** How one image is made. */
export interface ImageRecipe extends Pick<StoredPart, "name" | "version" | "title" | "minutes"> {
    /** Whether it stands on {@link imageBase}. */
    readonly base: boolean;
    /** A further part that it needs. */
    readonly also?: PartName;
    readonly config: ImageConfig;
    /** All else that decides what `fill` does. Plain JSON. */
    readonly settings: unknown;
    /** Fills the image's own layer; returns the versions of what it put there. */
    fill(root: string, workshop: Workshop): Promise<Record<string, string>>;
}

/** The part that makes an image. */
export function imagePart(image: ImageRecipe): StoredPart {
    const { base, also, config, settings, fill, ...about } = image;
    const references = IMAGES.find((image) => image.part === about.name)?.references ?? [];
    return {
        ...about,
        kind: "stored",
        needs: ["debian-packages", ...(base ? ["image-base" as const] : []), ...(also ? [also] : [])],
        recipe: { references, config, settings, excluded: NOT_PACKED },
        sources: ["parts/images.ts", "parts/image-recipes.ts", "parts/image-archive.ts", "parts/debian-root.ts"],
        async make(folder, workshop) {
            const root = join(folder, "root");
            const layer = join(folder, LAYER);
            mkdirSync(root);
            const facts = await fill(root, workshop);
            await packLayer(root, layer, workshop.log, NOT_PACKED);
            rmSync(root, { recursive: true });
            const layers = [...(base ? [join(workshop.folderOf("image-base"), LAYER)] : []), layer];
            await writeImageArchive({ references, config, labels: facts, layers }, join(folder, ARCHIVE), workshop.log);
            rmSync(layer);
            return facts;
        },
    };
}

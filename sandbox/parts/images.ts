import { chmodSync, copyFileSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { addUser, type DebianRoot, makeDebianRoot } from "./debian-root";
import { downloadDebianPackages } from "./debian";
import { type ImageConfig, packLayer, writeImageArchive } from "./image-archive";
import { fetchNode, NODE_VERSION } from "./node-program";
import type { PartName, StoredPart, Workshop } from "./part";
import { run } from "./run";

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
const LAYER = "layer.tar";

const PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Of no use in a container, and different each time: caches, logs, lists, devices. */
const NOT_PACKED = [
    "./var/cache/*",
    "./var/log/*",
    "./var/lib/apt/lists/*",
    "./var/lib/dpkg/*-old",
    "./dev/*",
    "./proc/*",
    "./sys/*",
    "./run/*",
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

/** An image: its layers are those of the base, if it has one, and a folder that its recipe fills. */
function imagePart(
    about: Pick<StoredPart, "name" | "version" | "title" | "minutes"> & { readonly base: boolean; readonly also?: PartName },
    config: ImageConfig,
    settings: unknown,
    fill: (root: string, workshop: Workshop) => Promise<Record<string, string>>,
): StoredPart {
    const { base, also, ...common } = about;
    const references = IMAGES.find((image) => image.part === about.name)?.references ?? [];
    return {
        ...common,
        kind: "stored",
        needs: ["debian-packages", ...(base ? ["image-base" as const] : []), ...(also ? [also] : [])],
        recipe: { references, config, settings, excluded: NOT_PACKED },
        sources: ["parts/images.ts", "parts/image-archive.ts", "parts/debian-root.ts"],
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

const NODE_USER = { name: "node", id: 1000, home: "/home/node" };

export const imageNode = imagePart(
    { name: "image-node", version: NODE_VERSION, title: "Image of Node", minutes: 0.3, base: true },
    { Env: [PATH, `NODE_VERSION=${NODE_VERSION}`], Cmd: ["node"] },
    { user: NODE_USER },
    async (root, workshop) => {
        const facts = await fetchNode(place(root, "usr/local/bin/node"), workshop.log);
        for (const file of ["passwd", "group"]) {
            const base = join(workshop.folderOf("image-base"), LAYER);
            await run("tar", ["--extract", `--file=${base}`, "--directory", root, `./etc/${file}`], workshop.log);
        }
        await addUser(NODE_USER, root);
        mkdirSync(join(root, NODE_USER.home), { recursive: true });
        await run("chown", ["-R", `${NODE_USER.id}:${NODE_USER.id}`, join(root, NODE_USER.home)], workshop.log);
        return facts;
    },
);

/** The user has the number that the official image gives it: a stack that names it works on both. */
const POSTGRES: DebianRoot = {
    packages: ["postgresql-15"],
    user: { name: "postgres", id: 999, home: "/var/lib/postgresql" },
};

/** Just-in-time compilation, two thirds of PostgreSQL's size: without its library PostgreSQL does without. */
const POSTGRES_NOT_KEPT = ["usr/lib/llvm-14", "usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "usr/lib/aarch64-linux-gnu/libLLVM-14.so.1"];
const POSTGRES_JIT = ["usr/lib/postgresql/15/lib/bitcode", "usr/lib/postgresql/15/lib/llvmjit.so"];
/** The cluster that Debian makes on installing; each database of the shop makes its own. */
const POSTGRES_DEBIAN_CLUSTER = ["var/lib/postgresql/15", "etc/postgresql/15"];

export const imagePostgres = imagePart(
    { name: "image-postgres", version: "15.18", title: "Image of PostgreSQL", minutes: 1, base: false },
    {
        Env: [`${PATH}:/usr/lib/postgresql/15/bin`, "LANG=C.UTF-8", "PG_MAJOR=15", "PGDATA=/var/lib/postgresql/data"],
        Cmd: ["postgres"],
        ExposedPorts: { "5432/tcp": {} },
        StopSignal: "SIGINT",
    },
    { ...POSTGRES, left: [POSTGRES_NOT_KEPT, POSTGRES_JIT, POSTGRES_DEBIAN_CLUSTER] },
    async (root, { log }) => {
        const versions = await makeDebianRoot(POSTGRES, root, log);
        for (const path of [...POSTGRES_NOT_KEPT, ...POSTGRES_JIT, ...POSTGRES_DEBIAN_CLUSTER]) {
            rmSync(join(root, path), { recursive: true, force: true });
        }
        for (const folder of ["var/lib/postgresql/data", "var/run/postgresql", "docker-entrypoint-initdb.d"]) {
            mkdirSync(join(root, folder), { recursive: true });
        }
        await run("chown", ["-R", "999:999", join(root, "var/lib/postgresql"), join(root, "var/run/postgresql")], log);
        return versions;
    },
);

export const imageNats = imagePart(
    { name: "image-nats", version: "2.9.10", title: "Image of NATS", minutes: 0.2, base: true },
    { Env: [PATH], Entrypoint: ["nats-server"], Cmd: [], ExposedPorts: { "4222/tcp": {}, "8222/tcp": {}, "6222/tcp": {} } },
    { packages: ["nats-server"] },
    async (root, { log }) => {
        const unpacked = `${root}.debian`;
        const versions = await downloadDebianPackages(["nats-server"], unpacked, log);
        copyFileSync(join(unpacked, "usr/sbin/nats-server"), place(root, "usr/local/bin/nats-server"));
        // The official image without a distribution has it here.
        symlinkSync("usr/local/bin/nats-server", join(root, "nats-server"));
        rmSync(unpacked, { recursive: true });
        return versions;
    },
);

export const imagePause = imagePart(
    { name: "image-pause", version: "3.10", title: "Image of pause", minutes: 0.1, base: false },
    { User: "65535:65535", Entrypoint: ["/pause", "-P"] },
    { packages: ["catatonit"] },
    async (root, { log }) => {
        const unpacked = `${root}.debian`;
        const versions = await downloadDebianPackages(["catatonit"], unpacked, log);
        copyFileSync(join(unpacked, "usr/bin/catatonit"), place(root, "pause"));
        rmSync(unpacked, { recursive: true });
        return versions;
    },
);

export const imageCoreDns = imagePart(
    { name: "image-coredns", version: "1.14.3", title: "Image of CoreDNS", minutes: 0.1, base: false, also: "coredns" },
    { User: "65532:65532", WorkingDir: "/", Entrypoint: ["/coredns"], ExposedPorts: { "53/tcp": {}, "53/udp": {} } },
    {},
    async (root, workshop) => {
        const program = place(root, "coredns");
        copyFileSync(join(workshop.folderOf("coredns"), "coredns"), program);
        chmodSync(program, 0o755);
        return {};
    },
);

function place(root: string, path: string): string {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    return file;
}

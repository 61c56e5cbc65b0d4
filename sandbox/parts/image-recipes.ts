import { chmodSync, copyFileSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "../../toolchain/parts/run";
import { folderOf } from "../../toolchain/parts/store";
import { addUser, type DebianRoot, makeDebianRoot, unpackDebian } from "./debian-root";
import { imageBase, imagePart, LAYER } from "./images";
import { downloadNode, NODE_VERSION } from "./node-program";
import { COREDNS_VERSION, kube } from "./programs";

const PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const NODE_USER = { name: "node", id: 1000, home: "/home/node" };

export const imageNode = imagePart({
    name: "image-node",
    references: [`docker.io/library/node:${NODE_VERSION}-bookworm-slim`],
    version: NODE_VERSION,
    title: "Image of Node",
    minutes: 0.3,
    base: true,
    config: { Env: [PATH, `NODE_VERSION=${NODE_VERSION}`], Cmd: ["node"] },
    settings: { user: NODE_USER },
    fill: async (root, workshop) => {
        const facts = await downloadNode(place(root, "usr/local/bin/node"), workshop.log);
        const base = join(folderOf(imageBase), LAYER);
        const accounts = ["./etc/passwd", "./etc/group"];
        await run("tar", ["--extract", `--file=${base}`, "--directory", root, ...accounts], workshop.log);
        await addUser(NODE_USER, root);
        mkdirSync(join(root, NODE_USER.home), { recursive: true });
        await run("chown", [`${NODE_USER.id}:${NODE_USER.id}`, join(root, NODE_USER.home)], workshop.log);
        return facts;
    },
});

/** The user id of the official image: a stack that names it works with both. */
const POSTGRES_ID = 999;
const POSTGRES: DebianRoot = {
    packages: ["postgresql-15"],
    user: { name: "postgres", id: POSTGRES_ID, home: "/var/lib/postgresql" },
};

/** Installed by Debian, and left out of the image. */
const POSTGRES_LEFT_OUT = [
    // Just-in-time compilation: more than half of the image, and optional.
    "usr/lib/llvm-14",
    "usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
    "usr/lib/aarch64-linux-gnu/libLLVM-14.so.1",
    "usr/lib/postgresql/15/lib/bitcode",
    "usr/lib/postgresql/15/lib/llvmjit.so",
    // The cluster that the installation creates; each database creates its own.
    "var/lib/postgresql/15",
    "etc/postgresql/15",
];

export const imagePostgres = imagePart({
    name: "image-postgres",
    references: ["docker.io/library/postgres:15.18-bookworm"],
    version: "15.18",
    title: "Image of PostgreSQL",
    minutes: 1,
    base: false,
    config: {
        Env: [`${PATH}:/usr/lib/postgresql/15/bin`, "LANG=C.UTF-8", "PG_MAJOR=15", "PGDATA=/var/lib/postgresql/data"],
        Cmd: ["postgres"],
        ExposedPorts: { "5432/tcp": {} },
        StopSignal: "SIGINT",
    },
    settings: { ...POSTGRES, leftOut: POSTGRES_LEFT_OUT },
    fill: async (root, { log }) => {
        const versions = await makeDebianRoot(POSTGRES, root, log);
        for (const path of POSTGRES_LEFT_OUT) rmSync(join(root, path), { recursive: true, force: true });
        const [data, sockets] = [join(root, "var/lib/postgresql/data"), join(root, "run/postgresql")];
        for (const folder of [data, sockets, join(root, "docker-entrypoint-initdb.d")]) {
            mkdirSync(folder, { recursive: true });
        }
        const owned = [join(root, "var/lib/postgresql"), data, sockets];
        await run("chown", [`${POSTGRES_ID}:${POSTGRES_ID}`, ...owned], log);
        // Open to any user, as in the official image: pods may run as another.
        await run("chmod", ["1777", data, sockets], log);
        return versions;
    },
});

export const imageNats = imagePart({
    name: "image-nats",
    references: ["docker.io/library/nats:2.9.10-alpine", "docker.io/library/nats:2.9.10"],
    version: "2.9.10",
    title: "Image of NATS",
    minutes: 0.2,
    base: true,
    config: {
        Env: [PATH],
        Entrypoint: ["nats-server"],
        ExposedPorts: { "4222/tcp": {}, "6222/tcp": {}, "8222/tcp": {} },
    },
    settings: { packages: ["nats-server"] },
    fill: async (root, { log }) => {
        const unpacked = `${root}.debian`;
        const versions = await unpackDebian(["nats-server"], unpacked, log);
        copyFileSync(join(unpacked, "usr/sbin/nats-server"), place(root, "usr/local/bin/nats-server"));
        // The path in the official image without a distribution.
        symlinkSync("usr/local/bin/nats-server", join(root, "nats-server"));
        rmSync(unpacked, { recursive: true });
        return versions;
    },
});

/** Debian's `catatonit -P` does what the official program does: it waits and reaps the pod's orphaned processes. */
export const imagePause = imagePart({
    name: "image-pause",
    references: ["registry.k8s.io/pause:3.10"],
    version: "3.10",
    title: "Image of pause",
    minutes: 0.1,
    base: false,
    config: { User: "65535:65535", Entrypoint: ["/pause", "-P"] },
    settings: { packages: ["catatonit"] },
    fill: async (root, { log }) => {
        const unpacked = `${root}.debian`;
        const versions = await unpackDebian(["catatonit"], unpacked, log);
        copyFileSync(join(unpacked, "usr/bin/catatonit"), place(root, "pause"));
        rmSync(unpacked, { recursive: true });
        return versions;
    },
});

export const imageCoreDns = imagePart({
    name: "image-coredns",
    references: [`registry.k8s.io/coredns/coredns:v${COREDNS_VERSION}`],
    version: COREDNS_VERSION,
    title: "Image of CoreDNS",
    minutes: 0.1,
    base: false,
    also: kube,
    config: { User: "65532:65532", Entrypoint: ["/coredns"], ExposedPorts: { "53/tcp": {}, "53/udp": {} } },
    settings: {},
    fill: async (root) => {
        const program = place(root, "coredns");
        copyFileSync(join(folderOf(kube), "coredns"), program);
        chmodSync(program, 0o755);
        return {};
    },
});

/** The path of a file in a root file system; its folder is created. */
function place(root: string, path: string): string {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    return file;
}

import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { addresses } from "../addresses";
import { runCommand, tryCommand } from "../command";
import { layout, writeFileAtomically } from "../layout";
import { imagePause } from "../../parts/image-recipes";
import { locateParts } from "../../parts/locate";
import type { Component } from "../processes";

/** containerd with runc. All of its state is in the cache. */
export function containerd(): Component {
    return { name: "containerd", command: "containerd", args: ["--config", configPath] };
}

const configPath = join(layout.config, "containerd.toml");

/** The distributions' folders of CNI plugins. */
const cniFolders = ["/usr/lib/cni", "/opt/cni/bin"];

export async function configureContainerd(): Promise<void> {
    const plugins = cniFolders.find((folder) => existsSync(join(folder, "ptp")));
    if (!plugins)
        throw new Error(
            `no CNI plugin \`ptp\` in ${cniFolders.join(" or ")}; run \`apt-get install containernetworking-plugins\``,
        );
    const snapshotter = (await overlayWorks()) ? "overlayfs" : "native";
    const cni = join(layout.config, "cni");
    writeFileAtomically(join(cni, "10-pods.conflist"), JSON.stringify(podNetwork, undefined, 2));
    writeFileAtomically(configPath, containerdConfig(snapshotter, plugins, cni));
}

/** Whether the kernel and file system support overlay mounts; some container file systems do not. */
async function overlayWorks(): Promise<boolean> {
    const trial = join(layout.root, "overlay-trial");
    const [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map((name) => join(trial, name));
    for (const folder of [lower, upper, work, merged]) mkdirSync(folder!, { recursive: true });
    // In a new mount namespace: if this process is killed, no mount is left.
    const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
    const mount = ["mount", "-t", "overlay", "overlay", "-o", options, merged!];
    const { code } = await tryCommand("unshare", ["--mount", ...mount]);
    rmSync(trial, { recursive: true, force: true });
    return code === 0;
}

/**
 * Each pod has a veth pair to the node and is routed, not bridged: the kernel then filters traffic between pods without
 * its bridge-netfilter module, which some machines lack.
 */
const podNetwork = {
    cniVersion: "1.0.0",
    name: "sandbox",
    plugins: [
        {
            type: "ptp",
            // The node masquerades for all pods (network.ts).
            ipMasq: false,
            ipam: {
                type: "host-local",
                dataDir: layout.podAddresses,
                ranges: [[{ subnet: addresses.pods }]],
                routes: [{ dst: "0.0.0.0/0" }],
            },
        },
        { type: "portmap", capabilities: { portMappings: true } },
    ],
};

function containerdConfig(snapshotter: string, cniPlugins: string, cniConfig: string): string {
    const cri = `plugins."io.containerd.grpc.v1.cri"`;
    return `version = 2
root = "${layout.containerdRoot}"
state = "${layout.containerdState}"
# A pod's parts are its own; nothing here is worth more than the user's other programs.
oom_score = 0

[grpc]
  address = "${layout.containerdSocket}"

[${cri}]
  sandbox_image = "${imagePause.references[0]}"
  # Root without CAP_SYS_RESOURCE may not lower an OOM score, and runc dies trying.
  restrict_oom_score_adj = true
  # As Docker and containerd 2 do: ports below 1024 without a capability.
  enable_unprivileged_ports = true
  [${cri}.cni]
    bin_dir = "${cniPlugins}"
    conf_dir = "${cniConfig}"
  [${cri}.containerd]
    snapshotter = "${snapshotter}"
    [${cri}.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
`;
}

/** `ctr` for this containerd, in the kubelet's namespace. */
function ctr(...args: string[]): [string, string[]] {
    return ["ctr", ["--address", layout.containerdSocket, "--namespace", "k8s.io", ...args]];
}

export async function containerdAnswers(): Promise<boolean> {
    return existsSync(layout.containerdSocket) && (await tryCommand(...ctr("version"))).code === 0;
}

/** The references of the images in containerd, sorted, without digests. */
export async function importedImages(): Promise<string[]> {
    const listed = await runCommand(...ctr("images", "list", "--quiet"));
    return listed
        .split("\n")
        .filter((name) => name !== "" && !name.startsWith("sha256:") && !name.includes("@sha256:"))
        .sort();
}

/** Records from which archive each image was imported. */
export const archivesPath = join(layout.containerdRoot, "imported-archives.json");

function importedArchives(): Record<string, string> {
    if (!existsSync(archivesPath)) return {};
    return JSON.parse(readFileSync(archivesPath, "utf8")) as Record<string, string>;
}

/** Whether all images are there, from the current archives: a running sandbox may be older than its parts. */
export function hasImages(): boolean {
    const imported = importedArchives();
    return locateParts().images.every(({ references, archive }) =>
        references.every((reference) => imported[reference] === archive),
    );
}

/**
 * Imports the images that containerd lacks, or has from another archive (of a part that was rebuilt).
 *
 * @param onImport called with the references before each import.
 */
export async function importImages(onImport: (references: string) => void): Promise<void> {
    const imported = importedArchives();
    for (const { references, archive } of locateParts().images) {
        const there = await importedImages();
        if (references.every((reference) => there.includes(reference) && imported[reference] === archive)) continue;
        onImport(references.join(", "));
        await runCommand(...ctr("images", "import", archive));
        const now = await importedImages();
        const missing = references.filter((reference) => !now.includes(reference));
        if (missing.length > 0) throw new Error(`the image archive ${archive} does not contain ${missing.join(", ")}`);
        for (const reference of references) imported[reference] = archive;
        writeFileAtomically(archivesPath, JSON.stringify(imported));
    }
}

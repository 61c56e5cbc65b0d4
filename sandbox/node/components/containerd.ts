import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { runCommand, tryCommand } from "../../../toolchain/run-command";
import { layout, writeFileAtomically } from "../layout";
import { currentNetwork } from "../networks/registry";
import { firstNode, type SandboxNode } from "../nodes";
import { imagePause } from "../../parts/image-recipes";
import { locateParts } from "../../parts/locate";
import type { Component } from "../processes";

/** containerd with runc. All of its state is in the cache. */
export function containerd(node: SandboxNode): Component {
    return { name: `containerd${node.suffix}`, node, command: "containerd", args: ["--config", configPath(node)] };
}

const configPath = ({ folders }: SandboxNode) => join(folders.config, "containerd.toml");

/** The distributions' folders of CNI plugins. */
const cniFolders = ["/usr/lib/cni", "/opt/cni/bin"];

export async function configureContainerd(node: SandboxNode): Promise<void> {
    const debian = cniFolders.find((folder) => existsSync(join(folder, "ptp")));
    if (!debian)
        throw new Error(
            `no CNI plugin \`ptp\` in ${cniFolders.join(" or ")}; run \`apt-get install containernetworking-plugins\``,
        );
    const snapshotter = (await overlayWorks()) ? "overlayfs" : "native";
    const { config } = node.folders;
    const [cni, plugins] = [join(config, "cni"), join(config, "cni-plugins")];
    linkPlugins(plugins, debian);
    writeFileAtomically(join(cni, "10-pods.conflist"), JSON.stringify(podNetwork(node), undefined, 2));
    writeFileAtomically(configPath(node), containerdConfig(node, snapshotter, plugins, cni));
}

/** containerd 1.6 looks for plugins in one folder: this one has the distribution's, and the network's. */
function linkPlugins(folder: string, distribution: string): void {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const plugins = {
        ...Object.fromEntries(readdirSync(distribution).map((name) => [name, join(distribution, name)])),
        ...currentNetwork().cniPrograms(),
    };
    for (const [name, path] of Object.entries(plugins)) symlinkSync(path, join(folder, name));
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

const podNetwork = (node: SandboxNode) => ({
    cniVersion: "1.0.0",
    name: "sandbox",
    plugins: [currentNetwork().cniEntry(node), { type: "portmap", capabilities: { portMappings: true } }],
});

function containerdConfig({ folders }: SandboxNode, snapshotter: string, cniPlugins: string, cniConfig: string) {
    const cri = `plugins."io.containerd.grpc.v1.cri"`;
    return `version = 2
root = "${folders.containerdRoot}"
state = "${folders.containerdState}"
# A pod's parts are its own; nothing here is worth more than the user's other programs.
oom_score = 0

[grpc]
  address = "${folders.containerdSocket}"

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

/** `ctr` for a node's containerd, in the kubelet's namespace. */
export function ctr({ folders }: SandboxNode, ...args: string[]): [string, string[]] {
    return ["ctr", ["--address", folders.containerdSocket, "--namespace", "k8s.io", ...args]];
}

export async function containerdAnswers(node: SandboxNode): Promise<boolean> {
    return existsSync(node.folders.containerdSocket) && (await tryCommand(...ctr(node, "version"))).code === 0;
}

/** The references of the images in containerd, sorted, without digests. */
export async function importedImages(node = firstNode): Promise<string[]> {
    const listed = await runCommand(...ctr(node, "images", "list", "--quiet"));
    return listed
        .split("\n")
        .filter((name) => name !== "" && !name.startsWith("sha256:") && !name.includes("@sha256:"))
        .sort();
}

/** Records from which archive each image was imported. */
export const archivesPath = ({ folders } = firstNode) => join(folders.containerdRoot, "imported-archives.json");

function importedArchives(node: SandboxNode): Record<string, string> {
    if (!existsSync(archivesPath(node))) return {};
    return JSON.parse(readFileSync(archivesPath(node), "utf8")) as Record<string, string>;
}

/** Whether all images are there, from the current archives: a running sandbox may be older than its parts. */
export function hasImages(node: SandboxNode): boolean {
    const imported = importedArchives(node);
    return locateParts().images.every(({ references, archive }) =>
        references.every((reference) => imported[reference] === archive),
    );
}

/**
 * Imports the images that containerd lacks, or has from another archive (of a part that was rebuilt).
 *
 * @param onImport called with the references before each import.
 */
export async function importImages(node: SandboxNode, onImport: (references: string) => void): Promise<void> {
    const imported = importedArchives(node);
    for (const { references, archive } of locateParts().images) {
        const there = await importedImages(node);
        if (references.every((reference) => there.includes(reference) && imported[reference] === archive)) continue;
        onImport(references.join(", "));
        await runCommand(...ctr(node, "images", "import", archive));
        const now = await importedImages(node);
        const missing = references.filter((reference) => !now.includes(reference));
        if (missing.length > 0) throw new Error(`the image archive ${archive} does not contain ${missing.join(", ")}`);
        for (const reference of references) imported[reference] = archive;
        writeFileAtomically(archivesPath(node), JSON.stringify(imported));
    }
}

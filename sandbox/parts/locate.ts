import { dirname, join } from "node:path";
import type { Part } from "../../toolchain/parts/part";
import { folderOf } from "../../toolchain/parts/store";
import { cliPath } from "../../toolchain/pulumi/home";
import { pulumiParts } from "../../toolchain/pulumi/parts";
import { CLANG_FOLDER, debianClang, debianPackages } from "./debian-packages";
import { imageCoreDns, imageNats, imageNode, imagePause, imagePostgres } from "./image-recipes";
import type { NetworkName } from "../node/choices";
import { ARCHIVE } from "./images";
import { calico, cilium, kube } from "./programs";

/** The images that the sandbox brings. */
export const imageParts = [imageNode, imagePostgres, imageNats, imagePause, imageCoreDns];

/** What the node runs. */
export const clusterParts: readonly Part[] = [debianPackages, kube, ...imageParts];

/** What a node needs besides for each network. kube-router is in the program of {@link kube}'s module. */
export const networkParts = {
    "kube-router": [],
    calico: [calico],
    cilium: [debianClang, cilium],
} satisfies Record<NetworkName, readonly Part[]>;

/** What a user of the sandbox works with. */
export const userParts: readonly Part[] = [...pulumiParts, ...clusterParts];

let located: ReturnType<typeof locations> | undefined;

/** The paths of built parts, which exist after `ensureParts`. Reads nothing but the parts' sources, and once. */
export const locateParts = () => (located ??= locations());

function locations() {
    return {
        /** The Kubernetes program: `kube apiserver …`, `kube kubelet …`, `kube kubectl …`. */
        kube: join(folderOf(kube), "kube"),
        kubeRouter: join(folderOf(kube), "kube-router"),
        calico: {
            felix: join(folderOf(calico), "calico-felix"),
            cni: join(folderOf(calico), "calico"),
            definitions: join(folderOf(calico), "crds"),
        },
        cilium: {
            agent: join(folderOf(cilium), "daemon"),
            cni: join(folderOf(cilium), "cilium-cni"),
            definitions: join(folderOf(cilium), "crds"),
            /** For the agent's `--lib-dir`, as a copy: the agent writes headers into its folder `bpf`. */
            lib: join(folderOf(cilium), "lib"),
            /** The folder with `clang`, for the agent's PATH. */
            clangFolder: CLANG_FOLDER,
        },
        /** The folder with `kubectl`, for PATH. */
        kubectlFolder: join(folderOf(kube), "bin"),
        /** The names of each image, and the docker-archive that contains it under these. */
        images: imageParts.map((part) => ({ references: part.references, archive: join(folderOf(part), ARCHIVE) })),
        /** The folder with `pulumi` and `pulumi-language-nodejs`, for PATH. */
        pulumiFolder: dirname(cliPath()),
    };
}

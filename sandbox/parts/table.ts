import type { Part } from "../../toolchain/parts/part";
import { pulumiParts } from "../../toolchain/pulumi/parts";
import { debianPackages } from "./debian-packages";
import { imageCoreDns, imageNats, imageNode, imagePause, imagePostgres } from "./image-recipes";
import { kube, kubeRouter } from "./programs";

/** The images that the sandbox brings. */
export const imageParts = [imageNode, imagePostgres, imageNats, imagePause, imageCoreDns];

/** What the node runs. */
export const clusterParts: readonly Part[] = [debianPackages, ...imageParts, kube, kubeRouter];

/** What a user of the sandbox works with. */
export const userParts: readonly Part[] = [...pulumiParts, ...clusterParts];

import { dirname, join } from "node:path";
import { cachePaths } from "../../toolchain/parts/paths";
import { folderOf } from "../../toolchain/parts/store";
import { cliPath } from "../../toolchain/pulumi/home";
import { ARCHIVE } from "./images";
import { helm, kube, kubeRouter } from "./programs";
import { imageParts } from "./table";

/** The paths of built parts. They exist after `ensureParts`. */
export interface PartLocations {
    /** The Kubernetes program: `kube apiserver …`, `kube kubelet …`, `kube kubectl …`. */
    readonly kube: string;
    readonly kubeRouter: string;
    /** The folder with `kubectl`, for PATH. */
    readonly kubectlFolder: string;
    readonly helm: string;
    readonly images: readonly ImageLocation[];
    /** `$PULUMI_HOME`. */
    readonly pulumiHome: string;
    /** The folder with `pulumi` and `pulumi-language-nodejs`, for PATH. */
    readonly pulumiFolder: string;
}

/** One name of an image, and the archive that contains it. */
interface ImageLocation {
    /** Such as `registry.k8s.io/pause:3.10`. */
    readonly reference: string;
    /** A docker-archive tar for `ctr images import`. An archive may contain several names. */
    readonly archive: string;
}

/** See {@link PartLocations}. Reads nothing but the parts' sources. */
export function locateParts(): PartLocations {
    return {
        kube: join(folderOf(kube), "kube"),
        kubeRouter: join(folderOf(kubeRouter), "kube-router"),
        kubectlFolder: join(folderOf(kube), "bin"),
        helm: join(folderOf(helm), "helm"),
        images: imageParts.flatMap((part) =>
            part.references.map((reference) => ({ reference, archive: join(folderOf(part), ARCHIVE) })),
        ),
        pulumiHome: cachePaths().pulumiHome,
        pulumiFolder: dirname(cliPath()),
    };
}

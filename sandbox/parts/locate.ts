import { join } from "node:path";
import { ARCHIVE, IMAGES } from "./images";
import { sandboxPaths } from "./paths";
import { cliPath } from "./pulumi-home";
import { folderOf } from "./store";

/** Where the parts are once `ensureParts` has been called; nothing is looked at to say so. */
export interface PartLocations {
    /** The Kubernetes program: `kube apiserver …`, `kube kubelet …`, `kube kubectl …`. */
    readonly kube: string;
    readonly kubeRouter: string;
    readonly coreDns: string;
    /** The folder with `kubectl`, for PATH. */
    readonly kubectlFolder: string;
    /** The Helm program. */
    readonly helm: string;
    readonly images: readonly ImageLocation[];
    /** `$PULUMI_HOME`. */
    readonly pulumiHome: string;
    /** The folder with `pulumi` and `pulumi-language-nodejs`, for PATH. */
    readonly pulumiFolder: string;
}

/** One name of an image, and the archive that holds it. */
export interface ImageLocation {
    /** Such as `registry.k8s.io/pause:3.10`. */
    readonly reference: string;
    /** A docker-archive tar, to be imported with `ctr images import`. An archive may hold several names. */
    readonly archive: string;
}

/** Says where the parts are. */
export function locateParts(): PartLocations {
    return {
        kube: join(folderOf("kube"), "kube"),
        kubeRouter: join(folderOf("kube-router"), "kube-router"),
        coreDns: join(folderOf("coredns"), "coredns"),
        kubectlFolder: join(folderOf("kube"), "bin"),
        helm: join(folderOf("helm"), "helm"),
        images: IMAGES.flatMap(({ part, references }) =>
            references.map((reference) => ({ reference, archive: join(folderOf(part), ARCHIVE) })),
        ),
        pulumiHome: sandboxPaths().pulumiHome,
        pulumiFolder: join(cliPath("pulumi"), ".."),
    };
}

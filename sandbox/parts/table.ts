import { debianPackages } from "./debian";
import { goPart } from "./go";
import { goToolchain } from "./go-toolchain";
import { imageCoreDns, imageNats, imageNode, imagePause, imagePostgres } from "./image-recipes";
import { imageBase } from "./images";
import type { Part, PartName } from "./part";
import { pulumiCli, pulumiCliBuild, pulumiCommand, pulumiKubernetes, pulumiKubernetesBuild } from "./pulumi";

const KUBERNETES_VERSION = "1.34.4";

const kube = goPart(
    { name: "kube", version: KUBERNETES_VERSION, title: "Kubernetes", minutes: 5 },
    {
        module: "kubernetes",
        output: "kube",
        links: ["kubectl"],
        variables: {
            "k8s.io/component-base/version.gitVersion": `v${KUBERNETES_VERSION}`,
            "k8s.io/component-base/version.gitMajor": "1",
            "k8s.io/component-base/version.gitMinor": "34",
        },
    },
);

const kubeRouter = goPart(
    { name: "kube-router", version: "2.6.3-k3s1", title: "kube-router (network policies)", minutes: 1.5 },
    {
        module: "kubernetes",
        package: "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router",
        output: "kube-router",
    },
);

const coreDns = goPart(
    { name: "coredns", version: "1.14.3", title: "CoreDNS", minutes: 1.5 },
    { module: "coredns", output: "coredns" },
);

const HELM_VERSION = "3.18.6";

const helm = goPart(
    { name: "helm", version: HELM_VERSION, title: "Helm", minutes: 2 },
    {
        module: "helm",
        package: "helm.sh/helm/v3/cmd/helm",
        output: "helm",
        variables: { "helm.sh/helm/v3/internal/version.version": `v${HELM_VERSION}` },
    },
);

/** All parts, each after those that it needs. */
export const PARTS: readonly Part[] = [
    debianPackages,
    goToolchain,
    pulumiCliBuild,
    pulumiCli,
    pulumiKubernetesBuild,
    pulumiKubernetes,
    pulumiCommand,
    imageBase,
    imageNode,
    imagePostgres,
    imageNats,
    imagePause,
    kube,
    kubeRouter,
    coreDns,
    imageCoreDns,
    helm,
];

/** What a caller may ask for. `all` is what a user works with; Helm is what this project is held against. */
export type PartsWanted = "pulumi" | "cluster" | "all" | "helm";

const WANTED: Record<PartsWanted, readonly PartName[]> = {
    pulumi: ["pulumi-cli", "pulumi-kubernetes", "pulumi-command"],
    cluster: [
        "debian-packages",
        "image-node",
        "image-postgres",
        "image-nats",
        "image-pause",
        "kube",
        "kube-router",
        "image-coredns",
    ],
    helm: ["helm"],
    get all() {
        return [...this.pulumi, ...this.cluster];
    },
};

/** Looks a part up by its name. */
export function part(name: PartName): Part {
    const found = PARTS.find((each) => each.name === name);
    if (!found) throw new Error(`there is no part ${name}`);
    return found;
}

/** The parts asked for and all that they need, each after those that it needs. */
export function partsFor(wanted: PartsWanted): Part[] {
    const names = new Set<PartName>();
    const add = (name: PartName) => {
        part(name).needs.forEach(add);
        names.add(name);
    };
    WANTED[wanted].forEach(add);
    return PARTS.filter((each) => names.has(each.name));
}

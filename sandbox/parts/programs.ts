import { join } from "node:path";
import { goPart } from "../../toolchain/parts/go";

const sourceFolder = join(__dirname, "..");

const KUBERNETES_VERSION = "1.34.4";

/** All Kubernetes programs in one: `kube apiserver …`, `kube kubelet …`, `kube kubectl …`. */
export const kube = goPart(
    { name: "kube", version: KUBERNETES_VERSION, title: "Kubernetes", minutes: 5 },
    {
        sourceFolder,
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

/**
 * The variable that tells kube-router what to do with traffic that a NetworkPolicy denies: an iptables target.
 * kube-router itself always rejects; Calico and Cilium drop.
 */
export const deniedTrafficVariable = "DENIED_TRAFFIC_TARGET";

export const kubeRouter = goPart(
    { name: "kube-router", version: "2.6.3-k3s1", title: "kube-router (network policies)", minutes: 1.5 },
    {
        sourceFolder,
        module: "kubernetes",
        package: "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router",
        output: "kube-router",
        patch: {
            module: "github.com/cloudnativelabs/kube-router/v2",
            file: "pkg/controllers/netpol/pod.go",
            replacements: [
                { from: '"-j", "REJECT", "\\n"}', to: `"-j", os.Getenv("${deniedTrafficVariable}"), "\\n"}` },
                { from: '\t"strings"\n', to: '\t"os"\n\t"strings"\n' },
            ],
        },
    },
);

export const coreDns = goPart(
    { name: "coredns", version: "1.14.3", title: "CoreDNS", minutes: 1.5 },
    { sourceFolder, module: "coredns", output: "coredns" },
);

const HELM_VERSION = "3.18.6";

/** For tests and measurements only: the rendered chart is installed with it. */
export const helm = goPart(
    { name: "helm", version: HELM_VERSION, title: "Helm", minutes: 2 },
    {
        sourceFolder,
        module: "helm",
        package: "helm.sh/helm/v3/cmd/helm",
        output: "helm",
        variables: { "helm.sh/helm/v3/internal/version.version": `v${HELM_VERSION}` },
    },
);

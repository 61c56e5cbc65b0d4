import { join } from "node:path";
import { goPart } from "../../toolchain/parts/go";

const sourceFolder = join(__dirname, "..");

const KUBERNETES_VERSION = "1.34.4";

/** Later versions want the client of Kubernetes 1.35; with this one, all programs share that of 1.34. */
export const COREDNS_VERSION = "1.14.1";

/**
 * The variable with kube-router's iptables target for traffic that a NetworkPolicy denies.
 * kube-router itself always rejects; Calico and Cilium drop.
 */
export const deniedTrafficVariable = "DENIED_TRAFFIC_TARGET";

/**
 * `kube` is all Kubernetes programs in one: `kube apiserver …`, `kube kubelet …`, `kube kubectl …`. With it in one
 * module are those that share most of its packages: the enforcer of NetworkPolicies and the name server.
 */
export const kube = goPart(
    { name: "kube", version: KUBERNETES_VERSION, title: "Kubernetes, kube-router and CoreDNS", minutes: 3 },
    {
        sourceFolder,
        module: "kubernetes",
        packages: ["./kube", "./coredns", "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router"],
        links: { kubectl: "kube" },
        variables: {
            "k8s.io/component-base/version.gitVersion": `v${KUBERNETES_VERSION}`,
            "k8s.io/component-base/version.gitMajor": "1",
            "k8s.io/component-base/version.gitMinor": "34",
        },
        patch: {
            module: "github.com/cloudnativelabs/kube-router/v2",
            files: {
                "pkg/controllers/netpol/pod.go": [
                    { from: '"-j", "REJECT", "\\n"}', to: `"-j", os.Getenv("${deniedTrafficVariable}"), "\\n"}` },
                    { from: '\t"strings"\n', to: '\t"os"\n\t"strings"\n' },
                ],
                // Routing between machines of AWS, with a client that took two thirds of the compilation.
                "pkg/controllers/routing/aws.go": [
                    {
                        from: /^[^]+$/,
                        to: "package routing\n\nfunc (*NetworkRoutingController) disableSourceDestinationCheck() {}\n",
                    },
                ],
            },
        },
    },
);

/** Felix, which enforces NetworkPolicies, and the CNI plugin. */
export const calico = goPart(
    { name: "calico", version: "3.28.5", title: "Calico", minutes: 4 },
    {
        sourceFolder,
        module: "calico",
        packages: [
            "github.com/projectcalico/calico/felix/cmd/calico-felix",
            "github.com/projectcalico/calico/cni-plugin/cmd/calico",
        ],
        copies: { crds: { module: "github.com/projectcalico/calico", folder: "libcalico-go/config/crd" } },
    },
);

/** The agent (its package is called `daemon`), the CNI plugin, and the BPF programs, which the agent compiles. */
export const cilium = goPart(
    { name: "cilium", version: "1.20.2", title: "Cilium", minutes: 10 },
    {
        sourceFolder,
        module: "cilium",
        packages: ["github.com/cilium/cilium/daemon", "github.com/cilium/cilium/plugins/cilium-cni"],
        copies: {
            crds: { module: "github.com/cilium/cilium", folder: "pkg/k8s/apis/cilium.io/client/crds" },
            "lib/bpf": { module: "github.com/cilium/cilium", folder: "bpf" },
        },
    },
);

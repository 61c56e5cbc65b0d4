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

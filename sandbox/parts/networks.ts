import { join } from "node:path";
import { goPart } from "../../toolchain/parts/go";

const sourceFolder = join(__dirname, "..");

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

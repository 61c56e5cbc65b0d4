import { join } from "node:path";
import { addresses, nodeName } from "./addresses";
import { choices } from "./choices";
import { layout } from "./layout";

/** A machine of the cluster: a network namespace with a kubelet, a container runtime, a proxy and a policy agent. */
export interface SandboxNode {
    /** As in `kubectl get nodes`. */
    readonly name: string;
    /** The end of the names of its components, logs and records. */
    readonly suffix: string;
    readonly zone: string;
    /** The name of its network namespace; its file is in `/run/netns`. */
    readonly networkNamespace: string;
    readonly address: string;
    readonly addressIpv6: string;
    /** The range of its pods' addresses. */
    readonly podRange: string;
    readonly podRangeIpv6: string;
    /** Its interfaces: the first leads to the host, or to the node that leads there. */
    readonly interfaces: readonly string[];
    /** The identity of its kubelet in `pki.ts`. */
    readonly identity: "kubelet" | "kubelet-2";
    /** Its cgroup below that of the sandbox. */
    readonly cgroup: string;
    readonly folders: ReturnType<typeof foldersIn>;
}

/** The folders of one node's runtime and kubelet. */
function foldersIn(root: string) {
    const containerdState = join(root, "containerd-state");
    return {
        config: join(root, "config"),
        containerdRoot: join(root, "containerd"),
        containerdState,
        containerdSocket: join(containerdState, "containerd.sock"),
        kubelet: join(root, "kubelet"),
        podAddresses: join(root, "pod-addresses"),
        podLogs: join(root, "pod-logs"),
    };
}

/** The node with the control plane, always there. */
export const firstNode: SandboxNode = {
    name: nodeName,
    suffix: "",
    zone: "zone-a",
    networkNamespace: addresses.networkNamespace,
    address: addresses.node,
    addressIpv6: addresses.nodeIpv6,
    podRange: "10.244.0.0/24",
    podRangeIpv6: "fd00:10:244::/64",
    interfaces: [addresses.nodeInterface],
    identity: "kubelet",
    cgroup: "",
    folders: foldersIn(layout.root),
};

/** The node of `--nodes 2`. The first one leads to it. */
export const secondNode: SandboxNode = {
    name: `${nodeName}-2`,
    suffix: "-2",
    zone: "zone-b",
    networkNamespace: `${addresses.networkNamespace}-2`,
    address: addresses.secondNode,
    addressIpv6: addresses.secondNodeIpv6,
    podRange: "10.244.1.0/24",
    podRangeIpv6: "fd00:10:244:1::/64",
    interfaces: [addresses.nodeInterface],
    identity: "kubelet-2",
    cgroup: "/node-2",
    folders: foldersIn(join(layout.root, "node-2")),
};

export const possibleNodes = [firstNode, secondNode] as const;

/** The nodes of a choice, the control plane's first. */
export function sandboxNodes({ nodes } = choices()): readonly SandboxNode[] {
    return nodes === 1 ? [firstNode] : [{ ...firstNode, interfaces: interfacesOfFirst }, secondNode];
}

/** With a second node, the first has an interface that leads there. */
const interfacesOfFirst = [addresses.nodeInterface, addresses.interfaceToSecond];

/** The network namespace of a node, as a file. */
export const networkNamespaceFileOf = ({ networkNamespace }: SandboxNode) => `/run/netns/${networkNamespace}`;

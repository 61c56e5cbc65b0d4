import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { crdsIn } from "../../parts/crds";
import { locateParts } from "../../parts/locate";
import { addresses } from "../addresses";
import { applyObject } from "../api";
import { systemPath } from "../command";
import { answersOnNode } from "../health";
import { componentKubeconfig } from "../kubeconfig";
import type { SandboxNode } from "../nodes";
import type { Network } from "./network";

/** Where an agent finds the sources of its BPF programs. */
const libOf = ({ folders }: SandboxNode) => join(folders.config, "cilium-lib");

/** Settings of the whole machine that the agent would change. In the node's mount namespace they cannot be written. */
const protectedSettings = ["unprivileged_bpf_disabled", "timer_migration"].map((name) => `/proc/sys/kernel/${name}`);

/**
 * Cilium's agent and CNI plugin beside kube-proxy, without its operator. The nodes have fixed routes to each other's
 * pods. The agent compiles its BPF programs with clang when it starts.
 *
 * @see https://docs.cilium.io/en/stable/cmdref/cilium-agent/ its flags
 */
export const cilium: Network = {
    agent: (node) => ({
        name: `cilium-agent${node.suffix}`,
        node,
        command: locateParts().ciliumAgent,
        args: [
            `--k8s-kubeconfig-path=${componentKubeconfig("network-policy")}`,
            `--lib-dir=${libOf(node)}`,
            "--state-dir=/run/cilium",
            "--ipam=kubernetes",
            "--identity-allocation-mode=crd",
            "--routing-mode=native",
            `--ipv4-native-routing-cidr=${addresses.pods}`,
            "--enable-ipv4-masquerade=false",
            "--enable-ipv6=false",
            "--kube-proxy-replacement=false",
            "--bpf-lb-sock=false",
            `--devices=${node.interfaces.join(",")}`,
            "--enable-l7-proxy=false",
            "--bpf-map-dynamic-size-ratio=0",
            "--enable-hubble=false",
            "--enable-health-checking=false",
            "--enable-endpoint-health-checking=false",
            // After what the node itself rejects: packets to Services without pods, and to unused Service addresses.
            "--prepend-iptables-chains=false",
        ],
        environment: { K8S_NODE_NAME: node.name, PATH: `${locateParts().clangFolder}:${systemPath}` },
    }),
    plugin: () => ({ type: "cilium-cni", "log-file": "/run/cilium/cni.log" }),
    plugins: () => ({ "cilium-cni": locateParts().ciliumCni }),
    coveredFolders: [],
    mounts: () => [
        ...protectedSettings.flatMap((path) => [`mount --bind ${path} ${path}`, `mount -o remount,bind,ro ${path}`]),
        // Its maps and programs, which end with the namespace.
        "mount -t bpf bpf /sys/fs/bpf",
        "mkdir -p /run/cilium",
    ],
    objects: () => crdsIn(locateParts().ciliumCrds),
    rights: [
        { apiGroups: ["cilium.io"], resources: ["*"], verbs: ["*"] },
        {
            apiGroups: ["apiextensions.k8s.io"],
            resources: ["customresourcedefinitions"],
            verbs: ["get", "list", "watch"],
        },
        { apiGroups: [""], resources: ["nodes", "nodes/status"], verbs: ["patch"] },
    ],
    async prepare(node) {
        const { name, pods } = node;
        // Anew: the agent writes headers into it.
        rmSync(libOf(node), { recursive: true, force: true });
        cpSync(locateParts().ciliumLib, libOf(node), { recursive: true });
        // The agent takes the addresses of a node's pods from here.
        const spec = { podCIDR: pods, podCIDRs: [pods] };
        await applyObject({ apiVersion: "v1", kind: "Node", metadata: { name }, spec });
    },
    isReady: (node) => answersOnNode(node, "http://127.0.0.1:9879/healthz"),
};

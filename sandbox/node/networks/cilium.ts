import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { locateParts } from "../../parts/locate";
import { addresses } from "../addresses";
import { applyObject } from "../api";
import { systemPath } from "../../../toolchain/run-command";
import { answersOnNode } from "../health";
import { componentKubeconfig } from "../kubeconfig";
import type { SandboxNode } from "../nodes";
import { runningComponent } from "../processes";
import { crdsIn, type Network, ownBpf } from "./network";

const apiGroup = "cilium.io";

const agentOn = ({ suffix }: SandboxNode) => `cilium-agent${suffix}`;

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
    enforcer: (node) => ({
        name: agentOn(node),
        node,
        command: locateParts().cilium.agent,
        args: [
            `--k8s-kubeconfig-path=${componentKubeconfig("network-policy")}`,
            `--lib-dir=${libOf(node)}`,
            "--state-dir=/run/cilium",
            "--ipam=kubernetes",
            "--identity-allocation-mode=crd",
            "--routing-mode=native",
            `--ipv4-native-routing-cidr=${addresses.podRange}`,
            "--enable-ipv4-masquerade=false",
            "--enable-ipv6=false",
            "--kube-proxy-replacement=false",
            "--bpf-lb-sock=false",
            `--devices=${node.interfaces.join(",")}`,
            "--enable-l7-proxy=false",
            "--bpf-map-dynamic-size-ratio=0",
            "--enable-hubble=false",
            // It would leave files in the user's home.
            "--enable-gops=false",
            "--enable-health-checking=false",
            "--enable-endpoint-health-checking=false",
            // After what the node itself rejects: packets to Services without pods, and to unused Service addresses.
            "--prepend-iptables-chains=false",
        ],
        environment: { K8S_NODE_NAME: node.name, PATH: `${locateParts().cilium.clangFolder}:${systemPath}` },
    }),
    cniEntry: () => ({ type: "cilium-cni", "log-file": "/run/cilium/cni.log" }),
    cniPrograms: () => ({ "cilium-cni": locateParts().cilium.cni }),
    coveredFolders: [],
    mountCommands: () => [
        ...protectedSettings.flatMap((path) => [`mount --bind ${path} ${path}`, `mount -o remount,bind,ro ${path}`]),
        ownBpf,
        "mkdir -p /run/cilium",
    ],
    apiGroup,
    // Else its operator removes them. Each set of labels of a pod has an identity.
    ofOneRun: ["ciliumidentities", "ciliumendpoints"].map((kind) => `/apis/${apiGroup}/v2/${kind}`),
    objects: () => crdsIn(locateParts().cilium.definitions),
    rights: [
        { apiGroups: [apiGroup], resources: ["*"], verbs: ["*"] },
        {
            apiGroups: ["apiextensions.k8s.io"],
            resources: ["customresourcedefinitions"],
            verbs: ["get", "list", "watch"],
        },
        { apiGroups: [""], resources: ["nodes", "nodes/status"], verbs: ["patch"] },
    ],
    async prepare(node) {
        const { name, podRange } = node;
        if (!runningComponent(agentOn(node))) {
            // Anew: the agent writes headers into it.
            rmSync(libOf(node), { recursive: true, force: true });
            cpSync(locateParts().cilium.lib, libOf(node), { recursive: true });
        }
        // The agent takes the addresses of a node's pods from here.
        const spec = { podCIDR: podRange, podCIDRs: [podRange] };
        await applyObject({ apiVersion: "v1", kind: "Node", metadata: { name }, spec });
    },
    isReady: (node) => answersOnNode(node, "http://127.0.0.1:9879/healthz"),
};

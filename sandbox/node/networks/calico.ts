import { locateParts } from "../../parts/locate";
import { addresses } from "../addresses";
import { runCommand } from "../../../toolchain/run-command";
import { answersOnNode } from "../health";
import { componentKubeconfig } from "../kubeconfig";
import { networkNamespaceFileOf } from "../nodes";
import { crdsIn, hostLocalAddresses, type Network, ownBpf } from "./network";

const apiGroup = "crd.projectcalico.org";

/** The gateway of each pod: the node's end of its interface answers for it. */
const podGateway = "169.254.1.1";

const libFolder = "/var/lib/calico";

/** In a node's mount namespace: felix says there which pods' policies it has programmed. */
const statusFolder = "/run/calico";

/**
 * Calico's felix and CNI plugin, with the Kubernetes API as their database. The nodes have fixed routes to each other's
 * pods, so none of the rest is needed: BGP, typha, address pools.
 *
 * @see https://docs.tigera.io/calico/latest/reference/felix/configuration its variables
 */
export const calico: Network = {
    enforcer: (node) => ({
        name: `calico-felix${node.suffix}`,
        node,
        command: locateParts().calico.felix,
        args: [],
        environment: {
            FELIX_FELIXHOSTNAME: node.name,
            FELIX_DATASTORETYPE: "kubernetes",
            KUBECONFIG: componentKubeconfig("network-policy"),
            FELIX_IPTABLESBACKEND: "nft",
            FELIX_IPV6SUPPORT: "false",
            // After what felix allows come the node's own rules (node-settings.ts) and those of kube-proxy.
            FELIX_IPTABLESFILTERALLOWACTION: "RETURN",
            FELIX_DEFAULTENDPOINTTOHOSTACTION: "ACCEPT",
            // It looks for remains of its BPF mode with bpftool, and panics where the kernel refuses.
            FELIX_DEBUGSKIPCTLBCLEANUP: "true",
            FELIX_XDPENABLED: "false",
            FELIX_ENDPOINTSTATUSPATHPREFIX: statusFolder,
            FELIX_HEALTHENABLED: "true",
            FELIX_HEALTHHOST: "127.0.0.1",
            FELIX_USAGEREPORTINGENABLED: "false",
            FELIX_LOGFILEPATH: "none",
            FELIX_LOGSEVERITYFILE: "none",
            FELIX_LOGSEVERITYSYS: "none",
            FELIX_LOGSEVERITYSCREEN: "WARNING",
        },
    }),
    cniEntry: (node) => ({
        type: "calico",
        datastore_type: "kubernetes",
        kubernetes: { kubeconfig: componentKubeconfig("network-policy") },
        policy: { type: "k8s" },
        ipam: hostLocalAddresses(node),
        log_level: "warning",
        log_file_path: `${statusFolder}/cni.log`,
        // A pod starts only when felix has programmed its policies.
        policy_setup_timeout_seconds: 10,
        endpoint_status_dir: `${statusFolder}/endpoint-status`,
    }),
    cniPrograms: () => ({ calico: locateParts().calico.cni }),
    coveredFolders: [libFolder],
    // The plugin reads the node's name there when it removes a pod.
    mountCommands: ({ name }) => [`mkdir -p ${statusFolder}`, `printf %s ${name} > ${libFolder}/nodename`, ownBpf],
    apiGroup,
    objects: () => [
        ...crdsIn(locateParts().calico.definitions),
        {
            apiVersion: `${apiGroup}/v1`,
            kind: "ClusterInformation",
            metadata: { name: "default" },
            spec: { datastoreReady: true, clusterGUID: "5a0d6b0c1f0e4d6f9b8f2f6c7d1e3a55" },
        },
    ],
    rights: [
        { apiGroups: [apiGroup], resources: ["*"], verbs: ["*"] },
        { apiGroups: [""], resources: ["pods/status", "nodes/status"], verbs: ["patch", "update"] },
    ],
    /** Without a default route the kernel answers no pod that asks for its gateway. */
    async prepare(node) {
        const route = ["route", "replace", podGateway, "dev", addresses.nodeInterface, "scope", "link"];
        await runCommand("nsenter", [`--net=${networkNamespaceFileOf(node)}`, "ip", ...route]);
    },
    isReady: (node) => answersOnNode(node, "http://127.0.0.1:9099/readiness"),
};

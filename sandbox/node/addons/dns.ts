import { addresses, nodeName } from "../addresses";
import type { KubernetesObject } from "../api";
import { choices, perFamily } from "../choices";
import { role } from "./access";
import { imageCoreDns } from "../../parts/image-recipes";

const name = "coredns";
const namespace = "kube-system";
const labels = { "k8s-app": "kube-dns" };
const metadata = { name, namespace, labels };

/**
 * Resolves only names of the cluster. The answer to any other name is NXDOMAIN, within a millisecond; a forwarder
 * without a network would time out. No cache: the answers come from memory, and a cache would hide changes.
 */
const corefile = `${addresses.clusterDomain}:53 in-addr.arpa:53 ip6.arpa:53 {
    errors
    health
    ready
    kubernetes ${addresses.clusterDomain} in-addr.arpa ip6.arpa {
        pods insecure
    }
    loadbalance
    prometheus :9153
}
.:53 {
    errors
    template ANY ANY {
        rcode NXDOMAIN
    }
}
`;

/** CoreDNS: a Deployment, and the Service that the pods' resolvers use. */
export function dnsObjects(): KubernetesObject[] {
    return [
        { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } },
        ...role("system:coredns", { kind: "ServiceAccount", name, namespace }, [
            { apiGroups: [""], resources: ["endpoints", "services", "pods", "namespaces"], verbs: ["list", "watch"] },
            { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
        ]),
        { apiVersion: "v1", kind: "ConfigMap", metadata, data: { Corefile: corefile } },
        deployment(),
        {
            apiVersion: "v1",
            kind: "Service",
            metadata: { ...metadata, name: "kube-dns" },
            spec: {
                clusterIP: addresses.clusterDns,
                clusterIPs: perFamily(addresses.clusterDns, addresses.clusterDnsIpv6),
                ipFamilies: perFamily("IPv4", "IPv6"),
                ipFamilyPolicy: choices().ipFamilies === "ipv4" ? "SingleStack" : "PreferDualStack",
                selector: labels,
                ports: [
                    { name: "dns", port: 53, protocol: "UDP" },
                    { name: "dns-tcp", port: 53, protocol: "TCP" },
                    { name: "metrics", port: 9153, protocol: "TCP" },
                ],
            },
        },
    ];
}

function deployment(): KubernetesObject {
    const container = {
        name,
        image: imageCoreDns.references[0],
        imagePullPolicy: "IfNotPresent",
        args: ["-conf", "/etc/coredns/Corefile"],
        ports: [
            { name: "dns", containerPort: 53, protocol: "UDP" },
            { name: "dns-tcp", containerPort: 53, protocol: "TCP" },
            { name: "metrics", containerPort: 9153, protocol: "TCP" },
        ],
        resources: { requests: { cpu: "20m", memory: "30Mi" }, limits: { memory: "170Mi" } },
        securityContext: {
            allowPrivilegeEscalation: false,
            capabilities: { drop: ["ALL"] },
            readOnlyRootFilesystem: true,
            runAsNonRoot: true,
            runAsUser: 65532,
            runAsGroup: 65532,
            seccompProfile: { type: "RuntimeDefault" },
        },
        livenessProbe: { httpGet: { path: "/health", port: 8080 }, initialDelaySeconds: 30 },
        readinessProbe: { httpGet: { path: "/ready", port: 8181 }, periodSeconds: 1 },
        volumeMounts: [{ name: "config", mountPath: "/etc/coredns", readOnly: true }],
    };
    return {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata,
        spec: {
            replicas: 1,
            selector: { matchLabels: labels },
            template: {
                metadata: { labels },
                spec: {
                    serviceAccountName: name,
                    // If the other node stops, the cluster's names are still resolved.
                    nodeSelector: { "kubernetes.io/hostname": nodeName },
                    priorityClassName: "system-cluster-critical",
                    dnsPolicy: "Default",
                    terminationGracePeriodSeconds: 5,
                    containers: [container],
                    volumes: [{ name: "config", configMap: { name } }],
                },
            },
        },
    };
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { apiServerUrl, sandboxContext } from "./addresses";
import { layout, writeFileAtomically } from "./layout";
import { type Identity, pki } from "./pki";

/** The components that call the API, each with its own kubeconfig and permissions. */
const componentIdentities = [
    "controller-manager",
    "scheduler",
    "proxy",
    "kubelet",
    "kubelet-2",
    "network-policy",
    "sandbox-controller",
] as const;

export function componentKubeconfig(identity: (typeof componentIdentities)[number]): string {
    return join(layout.kubeconfigs, `${identity}.yaml`);
}

/** Writes the components' kubeconfigs, and the user's with the administrator's certificate. */
export function writeKubeconfigs(): void {
    for (const identity of componentIdentities)
        writeFileAtomically(componentKubeconfig(identity), kubeconfig(identity, identity));
    writeFileAtomically(layout.kubeconfig, kubeconfig("admin", sandboxContext));
}

/** A kubeconfig with embedded credentials: it can be copied. */
function kubeconfig(identity: Identity, context: string): string {
    const embedded = (path: string): string => readFileSync(path).toString("base64");
    return `apiVersion: v1
kind: Config
current-context: ${context}
clusters:
- name: ${sandboxContext}
  cluster:
    server: ${apiServerUrl}
    certificate-authority-data: ${embedded(pki.clusterAuthority)}
users:
- name: ${context}
  user:
    client-certificate-data: ${embedded(pki.certificate(identity))}
    client-key-data: ${embedded(pki.key(identity))}
contexts:
- name: ${context}
  context:
    cluster: ${sandboxContext}
    user: ${context}
`;
}

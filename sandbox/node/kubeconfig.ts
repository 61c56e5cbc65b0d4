import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sandboxContext } from "../paths";
import { apiServerUrl } from "./addresses";
import { type NodeLayout, writeFileAtomically } from "./layout";
import { type Identity, pkiFiles } from "./pki";

/** The components that call the API, each with its own kubeconfig and permissions. */
const componentIdentities = [
    "controller-manager",
    "scheduler",
    "proxy",
    "kubelet",
    "network-policy",
    "sandbox-controller",
] as const;

/** The path of a component's kubeconfig. */
export function componentKubeconfig(layout: NodeLayout, identity: (typeof componentIdentities)[number]): string {
    return join(layout.kubeconfigs, `${identity}.yaml`);
}

/** Writes the components' kubeconfigs, and the user's with the administrator's certificate. */
export function writeKubeconfigs(layout: NodeLayout): void {
    for (const identity of componentIdentities) {
        writeFileAtomically(componentKubeconfig(layout, identity), kubeconfig(layout, identity, identity));
    }
    writeFileAtomically(layout.kubeconfig, kubeconfig(layout, "admin", sandboxContext));
}

/** A kubeconfig with embedded credentials: it can be copied. */
function kubeconfig(layout: NodeLayout, identity: Identity, context: string): string {
    const files = pkiFiles(layout);
    const embedded = (path: string): string => readFileSync(path).toString("base64");
    return `apiVersion: v1
kind: Config
current-context: ${context}
clusters:
- name: ${sandboxContext}
  cluster:
    server: ${apiServerUrl}
    certificate-authority-data: ${embedded(files.clusterAuthority)}
users:
- name: ${context}
  user:
    client-certificate-data: ${embedded(files.certificate(identity))}
    client-key-data: ${embedded(files.key(identity))}
contexts:
- name: ${context}
  context:
    cluster: ${sandboxContext}
    user: ${context}
`;
}

import type { KubernetesObject } from "../cli/rendering/collect";
import { revealed } from "../cli/rendering/secrets";
import type { StackState } from "./stack";

/**
 * A stack's Kubernetes objects as manifests in another namespace, in the order in which the engine created them. They
 * are the inputs: fields that the cluster adds are not part of them.
 */
export function manifestsOf(state: StackState, namespace: string): KubernetesObject[] {
    return state.deployment.resources
        .filter(({ type, custom }) => custom && type.startsWith("kubernetes:"))
        .map(({ inputs }) => moved(revealed(inputs) as KubernetesObject, namespace));
}

function moved(manifest: KubernetesObject, namespace: string): KubernetesObject {
    const { kind, metadata } = manifest;
    return {
        ...manifest,
        metadata: kind === "Namespace" ? { ...metadata, name: namespace } : { ...metadata, namespace },
    };
}

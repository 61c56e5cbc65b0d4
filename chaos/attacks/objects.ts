import type { Cluster } from "../cluster/client";
import { type Attack, attackKindOf, throughOf } from "./registry";

/** A type of object that an attack may be: while the object exists, the attack lasts. */
export interface AttackObjectType {
    apiGroup: string;
    resource: string;
    api: string;
    /** @throws ApiException with code 404 if the object does not exist */
    read(cluster: Cluster, object: { name: string; namespace: string }): Promise<object>;
}

const policy: AttackObjectType = {
    apiGroup: "networking.k8s.io",
    resource: "networkpolicies",
    api: "/apis/networking.k8s.io/v1",
    read: ({ networking }, object) => networking.readNamespacedNetworkPolicy(object),
};

/** Asks the deadline Job to kill pods. */
export const killRequest: AttackObjectType = {
    apiGroup: "",
    resource: "configmaps",
    api: "/api/v1",
    read: ({ core }, object) => core.readNamespacedConfigMap(object),
};

/** The proxy that takes a Service's place. */
export const proxyPod = {
    apiGroup: "",
    resource: "pods",
    api: "/api/v1",
    read: ({ core }, object) => core.readNamespacedPod(object),
} satisfies AttackObjectType;

export const objectTypes = [policy, killRequest, proxyPod];

/** @param attack its name in the plan */
export const objectNameOf = (runName: string, attack: string) => `${runName}-${attack}`;

export function objectTypeOf(attack: Attack): AttackObjectType {
    if (throughOf(attack)) return proxyPod;
    return attackKindOf(attack).killing ? killRequest : policy;
}

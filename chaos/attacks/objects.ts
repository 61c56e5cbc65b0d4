import { resources } from "../cluster/resources";
import { type Attack, attackKindOf, throughOf } from "./registry";

/** Asks the deadline Job to kill pods. */
export const killRequest = resources.configMap;
/** The proxy that takes a Service's place. */
const proxyPod = resources.pod;

/** The types of objects that an attack may be: while the object exists, the attack lasts. */
export const objectTypes = [resources.networkPolicy, killRequest, proxyPod] as const;
export type AttackObjectType = (typeof objectTypes)[number];

/** @param attack its name in the plan */
export const objectNameOf = (runName: string, attack: string) => `${runName}-${attack}`;

export function objectTypeOf(attack: Attack): AttackObjectType {
    if (throughOf(attack)) return proxyPod;
    return attackKindOf(attack).killing ? killRequest : resources.networkPolicy;
}

import type { V1LabelSelector, V1NetworkPolicy, V1NetworkPolicySpec } from "@kubernetes/client-node";
import { createHash } from "node:crypto";
import { isExperimentPolicy } from "../cluster/labels";
import { withoutLine } from "./exemption";
import { isolates, rulesOf, type Way, ways } from "./rules";

/** What a NetworkPolicy says, in short, and without what runs change in it. */
export interface KnownPolicy {
    name: string;
    uid: string;
    podSelector: V1LabelSelector;
    /** For each direction in which it isolates pods, a hash of what it allows: empty if that is nothing. */
    allows: Partial<Record<Way, string>>;
}

/** What the NetworkPolicies of a namespace say, without those of experiments. */
export const knownPolicies = (policies: readonly V1NetworkPolicy[]): KnownPolicy[] =>
    policies.filter((one) => !isExperimentPolicy(one)).map(knownPolicy);

/** @param policy as a client or JSON has it */
export const knownPolicy = ({ metadata, spec }: V1NetworkPolicy): KnownPolicy => ({
    name: metadata!.name!,
    uid: metadata!.uid!,
    podSelector: withoutLine(spec!.podSelector),
    allows: Object.fromEntries(ways.filter((way) => isolates(spec!, way)).map((way) => [way, allowedBy(spec!, way)])),
});

function allowedBy(spec: V1NetworkPolicySpec, way: Way): string {
    const rules = rulesOf(spec, way);
    return rules.length === 0 ? "" : hashOf(rules);
}

/** What a policy says, to be compared: the same for one that was deleted and created again as it was. */
export const saidBy = ({ name, podSelector, allows }: KnownPolicy): string => hashOf([name, podSelector, allows]);

/** Fields may come in any order: the client's classes have another than JSON. */
const hashOf = (value: unknown): string =>
    createHash("sha256").update(JSON.stringify(value, inOrder)).digest("hex").slice(0, 12);

function inOrder(_: string, value: unknown): unknown {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

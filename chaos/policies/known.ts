import type { V1LabelSelector, V1NetworkPolicy, V1NetworkPolicySpec } from "../values/kubernetes-types";
import { createHash, type Hash } from "node:crypto";
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

export const knownPolicies = (policies: readonly V1NetworkPolicy[]): KnownPolicy[] => policies.map(knownPolicy);

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

/** Takes fields in the order of their names: the states of earlier versions have hashes that were made so. */
function hashOf(value: unknown): string {
    const hash = createHash("sha256");
    feed(hash, value);
    return hash.digest("hex").slice(0, 12);
}

/** Bit by bit: the text of large rules, or a copy in order, would take much of the Job's memory. */
function feed(hash: Hash, value: unknown): void {
    if (value === null || typeof value !== "object") return void hash.update(JSON.stringify(value) ?? "null");
    const isList = Array.isArray(value);
    hash.update(isList ? "[" : "{");
    for (const key of isList ? value.keys() : Object.keys(value).sort()) {
        const inner = (value as Record<string | number, unknown>)[key];
        if (!isList && inner === undefined) continue;
        hash.update(isList ? "," : `,${JSON.stringify(key)}:`);
        feed(hash, inner);
    }
    hash.update(isList ? "]" : "}");
}

import type {
    V1LabelSelector,
    V1NetworkPolicyPeer,
    V1NetworkPolicyPort,
    V1NetworkPolicySpec,
} from "../values/kubernetes-types";

/** A direction of traffic, as the NetworkPolicies of a pod see it. */
export type Way = "ingress" | "egress";

export const ways = ["ingress", "egress"] as const;

/** A protocol that a NetworkPolicy can allow. */
export type Protocol = "TCP" | "UDP" | "SCTP";

export const protocols: readonly Protocol[] = ["TCP", "UDP", "SCTP"];

/** Of a port in a policy's rule. */
export const protocolOf = ({ protocol = "TCP" }: V1NetworkPolicyPort) => protocol as Protocol;

/** A rule of either direction: whom it allows, and on which ports. */
export interface Rule {
    /** @default everybody */
    peers?: readonly V1NetworkPolicyPeer[];
    /** @default all */
    ports?: readonly V1NetworkPolicyPort[];
}

const typeOf = { ingress: "Ingress", egress: "Egress" } as const;

/** Whether a policy denies its pods what no policy allows. The API server completes `policyTypes`. */
export const isolates = ({ policyTypes }: V1NetworkPolicySpec, way: Way): boolean =>
    policyTypes?.includes(typeOf[way]) ?? true;

export function rulesOf(spec: V1NetworkPolicySpec, way: Way): Rule[] {
    if (!isolates(spec, way)) return [];
    return way === "ingress"
        ? (spec.ingress ?? []).map(({ from: peers, ports }) => ({ peers, ports }))
        : (spec.egress ?? []).map(({ to: peers, ports }) => ({ peers, ports }));
}

export interface PolicyRules {
    policyTypes: ("Ingress" | "Egress")[];
    ingress?: { from?: V1NetworkPolicyPeer[]; ports?: V1NetworkPolicyPort[] }[];
    egress?: { to?: V1NetworkPolicyPeer[]; ports?: V1NetworkPolicyPort[] }[];
}

export interface PolicySpec extends PolicyRules {
    podSelector: V1LabelSelector;
}

/** @param allowed the rules of each isolated direction; nothing is allowed if they are none */
export function policyRules(allowed: Partial<Record<Way, readonly Rule[]>>): PolicyRules {
    const written = (way: Way, peersField: "from" | "to") => {
        const rules = allowed[way] ?? [];
        if (rules.length === 0) return {};
        const fields = ({ peers, ports }: Rule) => ({
            ...(peers?.length && { [peersField]: peers }),
            ...(ports?.length && { ports }),
        });
        return { [way]: rules.map(fields) };
    };
    return {
        policyTypes: ways.filter((way) => allowed[way]).map((way) => typeOf[way]),
        ...written("ingress", "from"),
        ...written("egress", "to"),
    };
}

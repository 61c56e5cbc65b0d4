import * as z from "zod";
import type { AttributeExpression } from "../targets/attributes";
import { expression } from "../targets/locate";
import { type AttackKind, witnessPorts } from "./kind";

/** Cuts the targets off the network. */
export interface BlackholeAttack {
    kind: "blackhole";
    /** Traffic into the targets, out of them, or both. @default "both" */
    direction?: "both" | "ingress" | "egress";
    /** Only these TCP and UDP ports: the targets' own for ingress, other pods' for egress. @default all */
    ports?: number[];
    /**
     * Only traffic with these containers, described by attributes, in the targets' namespace unless they name another.
     * Whether peers that start later are affected depends on the network. @default all traffic
     */
    peers?: AttributeExpression;
}

/**
 * A NetworkPolicy that allows nothing, or everything but some ports and peers. By the NetworkPolicy specification the
 * pod's own node is exempt: the kubelet's probes still reach a pod that is cut off.
 */
export const blackhole: AttackKind<BlackholeAttack> = {
    schema: z.strictObject({
        kind: z.literal("blackhole"),
        direction: z.enum(["both", "ingress", "egress"]).optional(),
        ports: z.array(z.int().min(1).max(65_535)).nonempty().optional(),
        peers: expression.optional(),
    }),
    examples: [{ kind: "blackhole" }, { kind: "blackhole", peers: "k8s.deployment=e,k8s.namespace=peers" }],
    effect: "isolated",
    describe({ direction = "both", ports, peers }) {
        const how = {
            both: peers ? `cut off from ${peers}` : "cut off from the network",
            ingress: peers ? `unreachable for ${peers}` : "unreachable for their callers",
            egress: peers ? `unable to reach ${peers}` : "unable to reach anything",
        }[direction];
        return ports ? `${how} on ${ports.length === 1 ? "port" : "ports"} ${ports.join(", ")}` : how;
    },
    denies: ({ direction = "both", ports, peers }) => ({
        ways: direction === "both" ? ["ingress", "egress"] : [direction],
        ports,
        withPeers: peers !== undefined,
    }),
    proof({ direction = "both", ports, peers }) {
        if (peers) {
            const ways = direction === "both" ? (["ingress", "egress"] as const) : [direction];
            return {
                peers: { ways, ports },
                // The witness is no peer.
                stillWorks: {
                    inward: { except: [] },
                    outward: { port: witnessPorts[0] },
                    peers: ports && { ways, except: ports },
                },
            };
        }
        const [isInwardCut, isOutwardCut] = [direction !== "egress", direction !== "ingress"];
        return {
            inward: isInwardCut ? { ports } : undefined,
            outward: isOutwardCut ? { port: ports?.[0] ?? witnessPorts[0] } : undefined,
            stillWorks: {
                inward: isInwardCut ? ports && { except: ports } : { except: [] },
                outward: isOutwardCut ? ports && anotherPort(ports) : { port: witnessPorts[0] },
                // Nothing of the targets works.
                untouched: isInwardCut && isOutwardCut && !ports ? true : undefined,
            },
        };
    },
};

/**
 * To the witness, on a port that the attack does not block, but a network without `endPort` does: that allows only the
 * first port of each range. Undefined if there is none.
 */
function anotherPort(blocked: readonly number[]): { port: number } | undefined {
    const port = witnessPorts.find((candidate) => !blocked.includes(candidate) && !blocked.includes(candidate - 1));
    return port === undefined ? undefined : { port };
}

import * as z from "zod";
import type { AttributeExpression } from "../targets/attributes";
import { expression } from "../targets/locate";
import { allPortsBut, everyoneBut } from "./allow-rules";
import type { AttackKind } from "./kind";

/** Cuts the targets off the network. */
export interface BlackholeAttack {
    kind: "blackhole";
    /** Traffic into the targets, out of them, or both. @default "both" */
    direction?: "both" | "ingress" | "egress";
    /** Only these TCP and UDP ports: the targets' own for ingress, other pods' for egress. @default all */
    ports?: number[];
    /**
     * Only traffic with these containers, described by attributes, in the targets' namespace unless they name another.
     * Pods that start later are not affected. @default all traffic
     */
    peers?: AttributeExpression;
}

/** Where the witness listens if `ports` names none: any port that a pod without privileges may use. */
const witnessPort = 8_080;

/**
 * A NetworkPolicy that allows nothing, or everything but some ports and peers. By the NetworkPolicy specification the
 * pod's own node is exempt: the kubelet's probes still reach a pod that is cut off.
 */
export const blackhole = {
    schema: z.strictObject({
        kind: z.literal("blackhole"),
        direction: z.enum(["both", "ingress", "egress"]).optional(),
        ports: z.array(z.int().min(1).max(65_535)).nonempty().optional(),
        peers: expression.optional(),
    }),
    describe({ direction = "both", ports, peers }) {
        const how = {
            both: peers ? `cut off from ${peers}` : "cut off from the network",
            ingress: peers ? `unreachable for ${peers}` : "unreachable for their callers",
            egress: peers ? `unable to reach ${peers}` : "unable to reach anything",
        }[direction];
        return ports ? `${how} on ${ports.length === 1 ? "port" : "ports"} ${ports.join(", ")}` : how;
    },
    rules({ direction = "both", ports, peers }, addresses = []) {
        const otherPorts = ports ? [{ ports: allPortsBut(ports) }] : [];
        const others = peers ? everyoneBut(addresses) : undefined;
        const ingress = [...(others ? [{ from: others }] : []), ...otherPorts];
        const egress = [...(others ? [{ to: others }] : []), ...otherPorts];
        return {
            policyTypes: [
                ...(direction === "egress" ? [] : ["Ingress"]),
                ...(direction === "ingress" ? [] : ["Egress"]),
            ],
            ...(ingress.length > 0 && direction !== "egress" && { ingress }),
            ...(egress.length > 0 && direction !== "ingress" && { egress }),
        };
    },
    proof({ direction = "both", ports, peers }) {
        if (peers) return { peers: { ways: direction === "both" ? ["ingress", "egress"] : [direction], ports } };
        return {
            inward: direction === "egress" ? undefined : { ports },
            outward: direction === "ingress" ? undefined : { port: ports?.[0] ?? witnessPort },
        };
    },
} satisfies AttackKind<BlackholeAttack>;

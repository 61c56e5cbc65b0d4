import type { AttributeExpression } from "../../shared/attributes";
import type { AttackKind } from "./attack";
import { everyoneBut } from "./peers";
import { allPortsBut } from "./ports";

/** Cuts the targets off the network. */
export interface BlackholeAttack {
    kind: "blackhole";
    /** Which way: into the targets, out of them, or both. @default "both" */
    direction?: "both" | "ingress" | "egress";
    /** Only these ports, TCP and UDP: those of the targets inwards, those of others outwards. @default all */
    ports?: number[];
    /** Only from these: attributes of containers; in the targets' namespace unless they name another. Pods of theirs that come later are spared. @default everybody */
    peers?: AttributeExpression;
}

/** Where the witness listens when nothing says where: any port that a pod without rights may take. */
const witnessPort = 8_080;

/**
 * A NetworkPolicy that allows nothing, or all but some ports and peers. The pod's own node is exempt by the NetworkPolicy
 * specification, which is why the kubelet's probes still reach a pod that is cut off.
 */
export const blackhole: AttackKind<BlackholeAttack> = {
    describe({ direction = "both", ports, peers }) {
        const way = {
            both: peers ? `cut off from ${peers}` : "cut off the network",
            ingress: peers ? `not to be reached by ${peers}` : "cut off from whoever calls them",
            egress: peers ? `unable to reach ${peers}` : "cut off from whomever they call",
        }[direction];
        return ports ? `${way} on ${ports.length === 1 ? "port" : "ports"} ${ports.join(", ")}` : way;
    },
    rules({ direction = "both", ports, peers }, addresses = []) {
        // Each of a policy's rules allows something: everyone but the peers, and everything but the ports.
        const elsewhere = ports ? [{ ports: allPortsBut(ports) }] : [];
        const others = peers ? everyoneBut(addresses) : undefined;
        const ingress = [...(others ? [{ from: others }] : []), ...elsewhere];
        const egress = [...(others ? [{ to: others }] : []), ...elsewhere];
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
};

import type { AttackKind } from "./attack";
import { allPortsBut } from "./ports";

/** Cuts the targets off the network. */
export interface BlackholeAttack {
    kind: "blackhole";
    /** Which way: into the targets, out of them, or both. @default "both" */
    direction?: "both" | "ingress" | "egress";
    /** Only these ports, TCP and UDP: those of the targets inwards, those of others outwards. @default all */
    ports?: number[];
}

/** Where the witness listens when nothing says where: any port that a pod without rights may take. */
const witnessPort = 8_080;

/**
 * A NetworkPolicy that allows nothing, or all but some ports. The pod's own node is exempt by the NetworkPolicy
 * specification, which is why the kubelet's probes still reach a pod that is cut off.
 */
export const blackhole: AttackKind<BlackholeAttack> = {
    describe({ direction = "both", ports }) {
        const way = { both: "cut off the network", ingress: "cut off from whoever calls them", egress: "cut off from whomever they call" }[direction];
        return ports ? `${way} on ${ports.length === 1 ? "port" : "ports"} ${ports.join(", ")}` : way;
    },
    rules({ direction = "both", ports }) {
        const allowed = ports && [{ ports: allPortsBut(ports) }];
        return {
            policyTypes: [...(direction === "egress" ? [] : ["Ingress"]), ...(direction === "ingress" ? [] : ["Egress"])],
            ...(allowed && direction !== "egress" && { ingress: allowed }),
            ...(allowed && direction !== "ingress" && { egress: allowed }),
        };
    },
    proof({ direction = "both", ports }) {
        return {
            inward: direction === "egress" ? undefined : { ports },
            outward: direction === "ingress" ? undefined : { port: ports?.[0] ?? witnessPort },
        };
    },
};

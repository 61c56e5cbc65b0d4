import { ways } from "../../policies/rules";
import * as z from "zod";
import type { AttributeExpression } from "../../targets/attributes";
import { expression } from "../../targets/locate";
import { notAllowed } from "../../values/texts";
import {
    type Address,
    addressSchema,
    allowedAddresses,
    blocksIn,
    describeAddresses,
    hostSchema,
    hostsIn,
    mistakeIn,
    onPorts,
    portSchema,
    provenBlocks,
} from "./addresses";
import { type Host, type PolicyKind, type Proof, witnessPorts } from "./attack-kind";

/** Cuts the targets off the network. */
export interface BlackholeAttack {
    kind: "blackhole";
    /** Traffic into the targets, out of them, or both. @default `"both"`; with addresses as `peers`, `"egress"` */
    direction?: "both" | "ingress" | "egress";
    /** Only these TCP and UDP ports: the targets' own for ingress, others' for egress. @default all */
    ports?: number[];
    /**
     * Only traffic with these containers, or to these addresses outside of the cluster's pods. Whether containers that
     * start later are affected depends on the network. @default all traffic
     */
    peers?: AttributeExpression | Address | Address[];
    /**
     * With addresses as `peers`: something else outside that the targets must still reach.
     * @default `kubernetes.default.svc`, port 443, the API server; none if `peers` have a `cidr`
     */
    control?: Host;
}

/** Undefined if the peers are not addresses. */
const addressesOf = ({ peers }: BlackholeAttack): Address[] | undefined =>
    typeof peers === "object" ? [peers].flat() : undefined;

const waysOf = (attack: BlackholeAttack) => {
    const { direction = addressesOf(attack) ? "egress" : "both" } = attack;
    return direction === "both" ? ways : [direction];
};

const peersSchema = z.union([expression, addressSchema, z.array(addressSchema).nonempty()], {
    error: notAllowed(`a target, or addresses: ${allowedAddresses}`),
});

/** Pods reach the API server by this name and port. */
const apiServer: Host = { host: "kubernetes.default.svc", port: 443 };

/**
 * A NetworkPolicy that allows nothing, or everything but some ports and peers. By the NetworkPolicy specification the
 * pod's own node is exempt: the kubelet's probes still reach a pod that is cut off.
 */
export const blackhole: PolicyKind<BlackholeAttack> = {
    schema: z.strictObject({
        kind: z.literal("blackhole"),
        direction: z.enum(["both", "ingress", "egress"]).optional(),
        ports: z.array(portSchema).nonempty().optional(),
        peers: peersSchema.optional(),
        control: hostSchema.optional(),
    }),
    examples: [
        { kind: "blackhole" },
        { kind: "blackhole", peers: "k8s.deployment=e,k8s.namespace=peers" },
        { kind: "blackhole", peers: [{ host: "HOST", port: 443 }] },
    ],
    effect: "isolated",
    mistake(attack) {
        const { direction = "egress", ports, control } = attack;
        const addresses = addressesOf(attack);
        if (addresses === undefined)
            return control && { field: "control", message: "is for addresses as `peers`; leave it out" };
        if (direction === "egress") return mistakeIn(addresses, ports, control);
        const why = "cannot be proven with addresses as `peers`, from which nothing can be tried";
        return { field: "direction", message: `"${direction}" ${why}; allowed: "egress", or leave it out` };
    },
    describe(attack) {
        const { peers, ports } = attack;
        const addresses = addressesOf(attack);
        const them = addresses ? describeAddresses(addresses, ports) : (peers as string | undefined);
        const [way, both] = waysOf(attack);
        const how = both
            ? `cut off from ${them ?? "the network"}`
            : way === "ingress"
              ? `unreachable for ${them ?? "their callers"}`
              : `unable to reach ${them ?? "anything"}`;
        return ports && !addresses ? `${how} ${onPorts(ports)}` : how;
    },
    denies(attack) {
        const { ports, peers } = attack;
        const addresses = addressesOf(attack);
        return {
            ways: waysOf(attack),
            ports,
            withPeers: peers !== undefined,
            blocks: addresses && blocksIn(addresses).map((block) => ({ ...block, ports })),
        };
    },
    proof(attack) {
        const { ports, peers } = attack;
        const addresses = addressesOf(attack);
        if (addresses) return proofOfAddresses(addresses, attack);
        if (peers)
            return {
                peers: { ways: waysOf(attack), ports },
                stillWorks: {
                    ...withWitness,
                    peers: ports && { ways: waysOf(attack), except: ports },
                },
            };
        const [isInwardCut, isOutwardCut] = ways.map((way) => waysOf(attack).includes(way));
        return {
            inward: isInwardCut ? { ports } : undefined,
            outward: isOutwardCut ? { port: ports?.[0] ?? witnessPorts[0] } : undefined,
            stillWorks: {
                inward: isInwardCut ? ports && { except: ports } : { except: [] },
                outward: isOutwardCut ? ports && anotherPort(ports) : { port: witnessPorts[0] },
                // Nothing of the targets works that the witness could try.
                untouched: isInwardCut && isOutwardCut && !ports ? true : undefined,
            },
        };
    },
};

/** The witness is no peer, so the attack leaves its connections alone. */
const withWitness = { inward: { except: [] }, outward: { port: witnessPorts[0] } };

function proofOfAddresses(addresses: readonly Address[], { ports, control }: BlackholeAttack): Proof {
    const [hosts, blocks] = [hostsIn(addresses), blocksIn(addresses)];
    // A block may contain the addresses behind the API server's, which are not known here.
    const host = control ?? (blocks.length === 0 ? { ...apiServer, isDefault: true as const } : undefined);
    return { addresses: { hosts, blocks: provenBlocks(blocks, ports) }, stillWorks: { ...withWitness, host } };
}

/**
 * A port of the witness that the attack does not block, and does not seem to block on a network without `endPort`: such
 * a network allows only the first port of each range. Undefined if there is none.
 */
function anotherPort(blocked: readonly number[]): { port: number } | undefined {
    const port = witnessPorts.find((candidate) => !blocked.includes(candidate) && !blocked.includes(candidate - 1));
    return port === undefined ? undefined : { port };
}

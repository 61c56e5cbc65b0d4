/** NetworkChaos: https://github.com/chaos-mesh/chaos-mesh/blob/master/api/v1alpha1/networkchaos_types.go */
import { type Fields, Refusal, unlikeAny } from "../fields";
import { faultOfDelay, faultOfRate, losesSome } from "../packets";
import { peersAt } from "../target";
import type { Context, Read, Reader } from "./reader";
import { requireAll, selected } from "./selector";

const shapes = (what: string) =>
    new Refusal(
        `${what}; no attack shapes packets. Nearest: a fault, with delay or abort and a percentage of requests`,
    );

const damages = { duplicate: shapes("sends packets twice"), corrupt: shapes("changes bits of packets") };

const actions: Record<string, Reader | Refusal> = {
    partition: partitioned,
    // For these three, Chaos Mesh applies all of their sections together.
    delay: shaped,
    loss: shaped,
    netem: shaped,
    ...damages,
    bandwidth: slowed,
};

export function readNetworkChaos(spec: Fields, context: Context): Read | undefined {
    const action = spec.word("action", actions);
    if (action === undefined) return undefined;
    for (const key of ["device", "targetDevice"])
        if (spec.has(key)) spec.note("what is done here is not of one device", key);
    return action(spec, context);
}

function shaped(spec: Fields, context: Context): Read | undefined {
    const lost = spec.has("loss") ? spec.object("loss") : undefined;
    const percent = Number(lost?.text("loss"));
    if (lost === undefined || percent === 0) return delayed(spec, context);
    if (percent === 100 && !spec.has("delay")) {
        lost.take("correlation");
        lost.refuseRest();
        spec.note("of all packets is a partition", "loss");
        return partitioned(spec, context);
    }
    spec.refuse(losesSome, "loss");
    return undefined;
}

const oneWay =
    "drops the packets of one direction, so TCP works in neither, as here; UDP goes on in the other there, not here";

/** Of addresses, a blackhole blocks what the pods send there. */
const ofAddresses = {
    both: "both",
    to: "to",
    from: new Refusal("drops what comes from there; a blackhole blocks what pods send there. Nearest: direction: to"),
} as const;

function partitioned(spec: Fields, { namespace }: Context): Read {
    const isExternal = spec.has("externalTargets");
    const isOfPods = spec.has("target") || spec.isEmpty("target");
    const direction = spec.word("direction", { ...ofAddresses, ...(!isExternal && { from: "from" }) }, "to");
    if (isExternal && direction === "both")
        spec.note("drops what comes from there, too; a blackhole of addresses does not", "direction");
    if (!isExternal && direction !== "both") spec.note(oneWay, "direction");
    if (isExternal && isOfPods)
        spec.refuse("is beside externalTargets, but peers are either pods or addresses: import one each", "target");
    if (isExternal) return { attack: { kind: "blackhole", ...externalPeers(spec) } };
    if (!isOfPods) return { attack: { kind: "blackhole" } };
    const target = spec.object("target");
    requireAll(target, "is of one of them by chance, and peers are all that match");
    const peers = selected(target, namespace);
    target.refuseRest();
    return { attack: { kind: "blackhole", peers: peers?.target } };
}

/** Chaos Mesh reads them so: controllers/podnetworkchaos/netutils/cidr.go. An IPv6 address has no port without `[]`. */
const withPort = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d+)$/;

function externalPeers(spec: Fields) {
    const places = spec.texts("externalTargets").map((text) => {
        const [, inBrackets, plain, port] = withPort.exec(text) ?? [];
        return port === undefined ? { host: text } : { host: inBrackets ?? plain!, port: Number(port) };
    });
    return peersAt(places, spec, "externalTargets");
}

const thirdParties =
    "are third parties, and a fault is of calls of a Service; no attack slows calls of others. Nearest: action: " +
    "partition, which blocks them";

/**
 * A round trip between two pods takes longer by the delay in each direction that is delayed, whichever of them has
 * called the other.
 */
function delayed(spec: Fields, context: Context): Read | undefined {
    const damaged = Object.entries(damages).filter(([key]) => spec.has(key));
    for (const [key, { reason }] of damaged) spec.refuse(reason, key);
    const delay = spec.object("delay");
    if (!spec.has("delay")) return void (damaged.length > 0 || spec.refuse("is missing", "delay"));
    if (!delay.has("latency")) delay.refuse("is missing", "latency");
    const latencyMs = delay.duration("latency");
    const jitterMs = delay.duration("jitter") ?? 0;
    delay.take("correlation");
    if (delay.has("reorder"))
        delay.refuse(unlikeAny("lets packets overtake others", "the delay without it").reason, "reorder");
    if (jitterMs > 0) delay.note("makes delays differ by up to this there; here all are the same", "jitter");
    delay.refuseRest();
    if (spec.has("externalTargets")) return void spec.refuse(thirdParties, "externalTargets");
    const isTwice = isOfTwo(spec, context) && spec.text("direction") === "both";
    if (isTwice) spec.note("delays packets both ways, so a round trip takes twice the latency", "direction");
    return { attack: faultOfDelay(spec, "delay", latencyMs && latencyMs * (isTwice ? 2 : 1), context) };
}

/**
 * Whether only what the pods exchange with a target is hit. Which of the two has called the other is not known, but
 * the Service is, whose pods those of the selector must be.
 */
function isOfTwo(spec: Fields, { namespace, service }: Context): boolean {
    const direction = spec.word("direction", { to: "to", from: "from", both: "both" }, "to");
    const isOfTwo = spec.has("target") || spec.isEmpty("target");
    if (!isOfTwo && direction !== "to")
        spec.note("is to without a target: Chaos Mesh refuses others, or takes them for to", "direction");
    if (!isOfTwo) return false;
    const target = spec.object("target");
    requireAll(target, "is of some pods, but a fault is of all that calls a Service");
    selected(target, namespace);
    target.refuseRest();
    spec.note(
        "is what only these pods and those of the selector send each other there; here all calls of the selector's " +
            `pods are hit, through Service ${service}, which must be theirs: else the run is ABORTED. If they call ` +
            "these, first swap selector and target, and from and to",
        "target",
    );
    return true;
}

/** What the pods of the selector send are answers. */
function slowed(spec: Fields, context: Context): Read | undefined {
    const bandwidth = spec.object("bandwidth");
    for (const key of ["limit", "buffer", "peakrate", "minburst"])
        if (bandwidth.has(key)) bandwidth.note("shapes bursts, which a fault does not", key);
    const fault = faultOfRate(bandwidth, "rate", context);
    bandwidth.refuseRest();
    if (spec.has("externalTargets")) return void spec.refuse(thirdParties, "externalTargets");
    if (!isOfTwo(spec, context)) return { attack: fault };
    const direction = spec.text("direction");
    if (direction === "both") spec.note("is of both; here only what the selector's pods send is limited", "direction");
    return { attack: direction === "from" ? { ...fault, stream: "upstream" } : fault };
}

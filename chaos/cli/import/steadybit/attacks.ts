/** Attacks on containers and pods: https://github.com/steadybit/extension-container and extension-kubernetes */
import { formatDuration } from "../../../values/duration";
import { type Fields, Refusal } from "../fields";
import { type Additions, type Draft, faultOfDelay } from "../imported";
import { faultOfRate } from "../bandwidth";
import { peersAt } from "../target";

/** Reads an attack's parameters, without its target but the names of its containers. @default all */
export type ReadAttack = (parameters: Fields, additions: Additions) => Draft & { containers?: string[] };

export function blackholeOf(parameters: Fields): Draft {
    ofNetwork(parameters);
    const [key] = ["hostname", "ip"].filter((each) => parameters.has(each));
    if (key === undefined) {
        if (parameters.has("port"))
            parameters.refuse("ports of Services count there, and those of pods here: write ports by hand", "port");
        return { kind: "blackhole" };
    }
    const hosts = [...parameters.texts("hostname"), ...parameters.texts("ip")];
    const ports = parameters.texts("port").map(Number);
    if (!ports.every(Number.isInteger))
        parameters.refuse("is not a list of ports such as 443: write those of a range one by one", "port");
    const places = hosts.flatMap((host) =>
        parameters.has("port") ? ports.filter(Number.isInteger).map((port) => ({ host, port })) : [{ host }],
    );
    return { kind: "blackhole", ...peersAt(places, parameters, key) };
}

export function dnsOf(parameters: Fields): Draft {
    parameters.word("dnsPort", { 53: "53" }, "53");
    ofNetwork(parameters);
    return { kind: "dns" };
}

/** All of what the containers send is lost, or this is no blackhole. */
export function lossOf(parameters: Fields): Draft {
    const some = "loses some of the packets, which TCP sends again; no attack does that. Nearest: a fault";
    if (parameters.number("networkLoss", { least: 1, most: 100 }) !== 100) parameters.refuse(some, "networkLoss");
    parameters.note(
        "drops what the pods send, so TCP works in no direction, as here; UDP goes in there",
        "networkLoss",
    );
    return blackholeOf(parameters);
}

export function delayOf(parameters: Fields, additions: Additions): Draft {
    ofNetwork(parameters);
    refuseEnds(parameters);
    if (!parameters.has("networkDelay")) parameters.refuse("is missing", "networkDelay");
    const delayMs = parameters.duration("networkDelay");
    if (parameters.text("networkDelayJitter") === "true")
        parameters.note("makes delays differ by 30% there; here all are the same", "networkDelayJitter");
    parameters.text("tcpDataPacketsOnly");
    return faultOfDelay(parameters, "networkDelay", formatDuration(delayMs ?? 0), additions);
}

export function bandwidthOf(parameters: Fields, additions: Additions): Draft {
    ofNetwork(parameters);
    refuseEnds(parameters);
    return faultOfRate(parameters, "bandwidth", additions);
}

/** A fault is of calls to the pods. */
function refuseEnds(parameters: Fields): void {
    for (const key of ["hostname", "ip", "port"])
        if (parameters.has(key))
            parameters.refuse(
                "is of what the pods call, and a fault is of calls of a Service: nearest is one at the Service of " +
                    "what is called, if it is in the cluster",
                key,
            );
}

function ofNetwork(parameters: Fields): void {
    parameters.take("duration");
    if (parameters.text("failOnHostNetwork") === "false")
        parameters.note("pods on the host's network are never attacked", "failOnHostNetwork");
    if (parameters.has("networkInterface")) parameters.note("the attack is not of one interface", "networkInterface");
}

const withLimit = "is a share of the container's limit, as here; a container without one is refused here";

export function stressCpuOf(parameters: Fields): Draft {
    parameters.take("duration");
    const load = parameters.number("cpuLoad", { least: 1, most: 100 });
    if (!parameters.has("cpuLoad")) parameters.refuse("is missing", "cpuLoad");
    parameters.note(withLimit, "cpuLoad");
    // The load is that of all workers together, if there is a limit: see `adaptToCpuContainerLimits`.
    parameters.take("workers");
    return { kind: "stress", cpu: load && `${load}%` };
}

const ofKills = (parameters: Fields) =>
    parameters.note("a load stays short of the limit, unless you add untilKilled: true", "failOnOomKill");

export function stressMemoryOf(parameters: Fields): Draft {
    parameters.take("duration");
    const share = parameters.number("percentage", { least: 1, most: 100 });
    if (!parameters.has("percentage")) parameters.refuse("is missing", "percentage");
    parameters.note(withLimit, "percentage");
    ofKills(parameters);
    return { kind: "stress", memory: share && `${share}%` };
}

export function fillMemoryOf(parameters: Fields): Draft {
    parameters.take("duration");
    const size = parameters.number("size", { least: 1, most: 100 });
    if (!parameters.has("size")) parameters.refuse("is missing", "size");
    parameters.word("unit", { "%": "%" }, "%");
    const mode = parameters.word("mode", { usage: "usage", absolute: "absolute" }, "usage");
    parameters.note(withLimit, "size");
    if (mode === "usage")
        parameters.note("fills up to this share there; here it is taken on top of what the container uses", "mode");
    ofKills(parameters);
    return { kind: "stress", memory: size && `${size}%` };
}

export function crashLoopOf(parameters: Fields): ReturnType<ReadAttack> {
    parameters.take("duration");
    parameters.note(
        "has containers killed again and again there, and they run in between; here they do not run until the end",
        "signal",
    );
    const container = parameters.text("container");
    return { kind: "fail", containers: container === undefined ? [] : [container] };
}

const without = (does: string, nearest: string) => new Refusal(`${does}; no attack does that. Nearest: ${nearest}`);

/** What others of these extensions do, by the last part of their types. */
export const others: Readonly<Record<string, Refusal>> = {
    stop: without("stops a container and leaves its pod", "Delete Pod, which deletes the pod"),
    pause: without("freezes a container", "Cause Crash Loop, in which it does not run"),
    network_package_corruption: without("changes bits of packets", "a fault with abort and a percentage of requests"),
    network_tcp_reset: without("resets connections", "a fault with abort: reset"),
    network_dns_error_injection: without("answers lookups with errors", "Block DNS"),
    fill_disk: new Refusal("fills a disk; no attack does that, and nothing comes near"),
    stress_io: without("loads a disk", "Stress CPU"),
    scale_statefulset: without("scales a StatefulSet", "Delete Pod, or Scale Deployment"),
    scale_replicaset: without("scales a ReplicaSet", "Scale Deployment"),
    drain_node: without("drains a node", "Delete Pod, as a kill with by: eviction and the node in its target"),
    taint_node: without("taints a node", "Delete Pod"),
    set_image: without("changes an image", "Rollout Restart"),
};

/** Attacks on containers and pods: https://github.com/steadybit/extension-container and extension-kubernetes */
import { type Fields, type Refusal, unlikeAny } from "../fields";
import type { Additions, Draft } from "../imported";
import { faultOfDelay, faultOfRate, losesSome } from "../packets";
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
    const ports = parameters.texts("port", true).map(Number);
    const isPort = (port: number) => Number.isInteger(port) && port > 0 && port < 65_536;
    if (!ports.every(isPort))
        parameters.refuse("is not a list of ports such as 443: write those of a range one by one", "port");
    const places = hosts.flatMap((host) =>
        parameters.has("port") ? ports.filter(isPort).map((port) => ({ host, port })) : [{ host }],
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
    if (parameters.number("networkLoss", { least: 1, most: 100 }) !== 100) parameters.refuse(losesSome, "networkLoss");
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
    return faultOfDelay(parameters, "networkDelay", delayMs, additions);
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
    if (parameters.text("failOnHostNetwork") === "false")
        parameters.note("pods on the host's network are never attacked", "failOnHostNetwork");
    if (parameters.has("networkInterface")) parameters.note("the attack is not of one interface", "networkInterface");
}

const withLimit = "is a share of the container's limit, as here; a container without one is refused here";

function shareIn(parameters: Fields, key: string): string | undefined {
    const share = parameters.number(key, { least: 1, most: 100 });
    if (!parameters.has(key)) parameters.refuse("is missing", key);
    parameters.note(withLimit, key);
    return share === undefined ? undefined : `${share}%`;
}

export function stressCpuOf(parameters: Fields): Draft {
    // The load is that of all workers together, if there is a limit: see `adaptToCpuContainerLimits`.
    parameters.take("workers");
    return { kind: "stress", cpu: shareIn(parameters, "cpuLoad") };
}

/** @param key of the share */
function memoryOf(parameters: Fields, key: string): Draft {
    const memory = shareIn(parameters, key);
    parameters.note("a load stays short of the limit, unless you add untilKilled: true", "failOnOomKill");
    return { kind: "stress", memory };
}

export const stressMemoryOf = (parameters: Fields): Draft => memoryOf(parameters, "percentage");

export function fillMemoryOf(parameters: Fields): Draft {
    parameters.word("unit", { "%": "%" }, "%");
    const mode = parameters.word("mode", { usage: "usage", absolute: "absolute" }, "usage");
    if (mode === "usage")
        parameters.note("fills up to this share there; here it is taken on top of what the container uses", "mode");
    return memoryOf(parameters, "size");
}

export function crashLoopOf(parameters: Fields): ReturnType<ReadAttack> {
    parameters.take("signal");
    const container = parameters.text("container");
    return { kind: "fail", containers: container === undefined ? [] : [container] };
}

/** What others of these extensions do, by a pattern of the last part of their types. */
export const others: Readonly<Record<string, Refusal>> = {
    stop: unlikeAny("stops a container and leaves its pod", "Delete Pod"),
    pause: unlikeAny("freezes a container", "Cause Crash Loop"),
    network_package_corruption: unlikeAny("changes bits of packets", "a fault with abort"),
    network_tcp_reset: unlikeAny("resets connections", "a fault with abort: reset"),
    network_dns_error_injection: unlikeAny("answers lookups with errors", "Block DNS"),
    stress_io: unlikeAny("loads a disk", "Stress CPU"),
    "scale_(?:statefulset|replicaset)": unlikeAny("scales what is no Deployment", "Delete Pod, or Scale Deployment"),
    "(?:drain_node|taint_node|shutdown)": unlikeAny(
        "takes pods from a node",
        "Delete Pod, as a kill with by: eviction and the node in its target",
    ),
    set_image: unlikeAny("changes an image", "Rollout Restart"),
};

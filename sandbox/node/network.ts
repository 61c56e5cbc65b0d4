import { existsSync } from "node:fs";
import { addresses } from "./addresses";
import { runCommand, tryCommand } from "./command";

const { networkNamespace, hostInterface, nodeInterface } = addresses;

/** The file that stands for the network namespace. */
export const networkNamespaceFile = `/run/netns/${networkNamespace}`;

/** Whether the namespace and the host's way into it are there and up. */
export async function networkIsUp(): Promise<boolean> {
    if (!existsSync(networkNamespaceFile)) return false;
    const link = await tryCommand("ip", ["-oneline", "address", "show", "dev", hostInterface, "up"]);
    const route = await tryCommand("ip", ["-oneline", "route", "show", addresses.loadBalancerPool]);
    return link.stdout.includes(`${addresses.host}/${addresses.linkPrefix}`) && route.stdout.includes(hostInterface);
}

/**
 * Creates the network namespace and the veth pair. On the host this adds one interface with one address and one route,
 * and touches no setting, no firewall and no other interface.
 *
 * @throws if the addresses are taken by another interface of this machine.
 */
export async function createNetwork(): Promise<void> {
    const taken = await tryCommand("ip", ["-oneline", "route", "get", addresses.node]);
    if (/ dev /.test(taken.stdout) && !/ via /.test(taken.stdout)) {
        throw new Error(
            `the sandbox's network 198.18.0.0/30 is already in use on this machine (${taken.stdout.trim()}); ` +
                "take that interface down, then run `npm run sandbox -- up` again",
        );
    }
    await runCommand("ip", ["netns", "add", networkNamespace]);
    const inside = ["-netns", networkNamespace];
    const steps: string[][] = [
        ["link", "add", hostInterface, "type", "veth", "peer", "name", nodeInterface, "netns", networkNamespace],
        ["address", "add", `${addresses.host}/${addresses.linkPrefix}`, "dev", hostInterface],
        ["link", "set", hostInterface, "up"],
        [...inside, "address", "add", `${addresses.node}/${addresses.linkPrefix}`, "dev", nodeInterface],
        [...inside, "link", "set", nodeInterface, "up"],
        [...inside, "link", "set", "lo", "up"],
        ["route", "add", addresses.loadBalancerPool, "via", addresses.node, "dev", hostInterface],
        // No default route, so that nothing inside can even try to leave. Service addresses still need some route:
        // the kernel looks one up before kube-proxy's rules replace the address with a pod's.
        [...inside, "route", "add", addresses.services, "dev", nodeInterface],
        [...inside, "route", "add", addresses.loadBalancerPool, "dev", nodeInterface],
        // An address that belongs to no Service fails at once instead of by time-out. A Service's own has been replaced
        // with a pod's by the time the route is looked up.
        [...inside, "rule", "add", "iif", nodeInterface, "to", addresses.loadBalancerPool, "unreachable"],
    ];
    for (const step of steps) await runCommand("ip", step);
    // The kernel tells each peer only once a second that it was refused: to everybody else a refusal looks like silence.
    await runCommand("nsenter", [
        `--net=${networkNamespaceFile}`,
        "sysctl",
        "-qw",
        "net.ipv4.ip_forward=1",
        "net.ipv4.icmp_ratelimit=0",
    ]);
    await runCommand("nsenter", [`--net=${networkNamespaceFile}`, "iptables-restore", "--noflush"], nodeRules);
}

/**
 * Pods' packets to the host carry the node's address: the host would send its answers to a pod's out into the world.
 *
 * A packet that is forwarded and still bears a Service's address has met kube-proxy between its tables, which it changes
 * one after the other: the Service has no pod, and is not refused any more, or not yet. Let go, it would be remembered as
 * a flow to nobody for two minutes, in which whatever comes from the same port to the same Service is lost. The enforcer
 * lets pass, before any rule after its own, what no policy forbids; it puts its own behind the last rule that says KUBE.
 */
const nodeRules = `*nat
-A POSTROUTING -s ${addresses.pods} -o ${nodeInterface} -j MASQUERADE
COMMIT
*filter
-A FORWARD -d ${addresses.services} -m comment --comment "not replaced by KUBE-SERVICES" -j REJECT
COMMIT
`;

/** Whether any of it is there, whole or not. */
export function networkExists(): boolean {
    return existsSync(networkNamespaceFile) || existsSync(`/sys/class/net/${hostInterface}`);
}

/** Removes the veth pair and the namespace, and with it every rule and route inside. Whatever is missing is skipped. */
export async function removeNetwork(): Promise<void> {
    await tryCommand("ip", ["link", "delete", hostInterface]);
    if (existsSync(networkNamespaceFile)) await runCommand("ip", ["netns", "delete", networkNamespace]);
}

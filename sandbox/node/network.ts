import { existsSync } from "node:fs";
import { addresses } from "./addresses";
import { runCommand, tryCommand } from "./command";

const { networkNamespace, hostInterface, nodeInterface } = addresses;

export const networkNamespaceFile = `/run/netns/${networkNamespace}`;

/** Whether the namespace and the host's route to it are up. */
export async function networkIsUp(): Promise<boolean> {
    if (!existsSync(networkNamespaceFile)) return false;
    const link = await tryCommand("ip", ["-oneline", "address", "show", "dev", hostInterface, "up"]);
    const route = await tryCommand("ip", ["-oneline", "route", "show", addresses.loadBalancerPool]);
    return link.stdout.includes(`${addresses.host}/${addresses.linkPrefix}`) && route.stdout.includes(hostInterface);
}

/**
 * Creates the network namespace and the veth pair. On the host this adds one interface with one address and one route.
 * No setting, firewall rule or other interface changes.
 *
 * @throws if another interface of this machine has the addresses.
 */
export async function createNetwork(): Promise<void> {
    const taken = await tryCommand("ip", ["-oneline", "route", "get", addresses.node]);
    if (/ dev /.test(taken.stdout) && !/ via /.test(taken.stdout))
        throw new Error(
            `the sandbox's network 198.18.0.0/30 is already in use on this machine (${taken.stdout.trim()}); ` +
                "take that interface down, then run `npm run sandbox -- up` again",
        );
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
        // No default route: nothing inside can reach beyond the host. Service addresses need a route, since the kernel
        // looks one up before kube-proxy's rules replace the address with a pod's.
        [...inside, "route", "add", addresses.services, "dev", nodeInterface],
        [...inside, "route", "add", addresses.loadBalancerPool, "dev", nodeInterface],
    ];
    for (const step of steps) await runCommand("ip", step);
    const within = `--net=${networkNamespaceFile}`;
    await runCommand("nsenter", [within, "sysctl", "-qw", ...nodeSettings]);
    await runCommand("nsenter", [within, "iptables-restore", "--noflush"], nodeRules);
}

const nodeSettings = [
    "net.ipv4.ip_forward=1",
    // By default the kernel sends a peer one rejection per second; further rejected packets would look dropped.
    "net.ipv4.icmp_ratelimit=0",
    // A packet to an unused address of a Service would leave as it came: the host would be told of a shorter way.
    ...["all", nodeInterface].map((name) => `net.ipv4.conf.${name}.send_redirects=0`),
];

/**
 * Pods' packets to the host get the node's address: the host would route answers to a pod's address to the internet.
 *
 * A forwarded packet that still has a Service's address has one of no Service. Or it arrived while kube-proxy changed
 * its tables, one after the other: the Service has no pod, and is not rejected yet or anymore. If it passed, connection
 * tracking would remember it for 2 min, and all packets from the same port to the same Service would be lost. The
 * enforcer accepts what no policy forbids before any later rule, and puts its rules after the last one that contains
 * KUBE; hence this rule's comment.
 */
const nodeRules = `*nat
-A POSTROUTING -s ${addresses.pods} -o ${nodeInterface} -j MASQUERADE
COMMIT
*filter
${[addresses.services, addresses.loadBalancerPool]
    .map((range) => `-A FORWARD -d ${range} -m comment --comment "not replaced by KUBE-SERVICES" -j REJECT`)
    .join("\n")}
COMMIT
`;

export function networkExists(): boolean {
    return existsSync(networkNamespaceFile) || existsSync(`/sys/class/net/${hostInterface}`);
}

/** Removes the veth pair and the namespace with all rules and routes inside, as far as they exist. */
export async function removeNetwork(): Promise<void> {
    await tryCommand("ip", ["link", "delete", hostInterface]);
    if (existsSync(networkNamespaceFile)) await runCommand("ip", ["netns", "delete", networkNamespace]);
}

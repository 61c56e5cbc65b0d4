import { existsSync } from "node:fs";
import { addresses } from "./addresses";
import { choices, perFamily } from "./choices";
import { runCommand, tryCommand } from "./command";
import { firstNode, networkNamespaceFileOf, possibleNodes, secondNode, type SandboxNode } from "./nodes";

const { hostInterface, nodeInterface, interfaceToSecond } = addresses;

/** Whether a node's namespace and the way to it are up: from the host, or from the first node. */
export async function networkIsUp(node: SandboxNode): Promise<boolean> {
    if (!existsSync(networkNamespaceFileOf(node))) return false;
    if (node.name === secondNode.name)
        return linkIsUp(interfaceToSecond, addresses.firstOnLinkToSecond, within(firstNode));
    const route = await tryCommand("ip", ["-oneline", "route", "show", addresses.loadBalancerPool]);
    return (await linkIsUp(hostInterface, addresses.host)) && route.stdout.includes(hostInterface);
}

async function linkIsUp(name: string, address: string, where: string[] = []): Promise<boolean> {
    const link = await tryCommand("ip", [...where, "-oneline", "address", "show", "dev", name, "up"]);
    return link.stdout.includes(`${address}/${addresses.linkPrefix}`);
}

/** For `ip`: in the network namespace of a node. */
const within = ({ networkNamespace }: SandboxNode) => ["-netns", networkNamespace];

/**
 * Makes a node's network namespace, and the way to it.
 *
 * @throws if another interface of this machine has the addresses.
 */
export const createNetwork = (node: SandboxNode) =>
    node.name === secondNode.name ? createNetworkOfSecond() : createNetworkOfFirst();

/**
 * Creates the network namespace and the veth pair. On the host this adds one interface with one address and one route.
 * No setting, firewall rule or other interface changes.
 */
async function createNetworkOfFirst(): Promise<void> {
    const taken = await tryCommand("ip", ["-oneline", "route", "get", addresses.node]);
    if (/ dev /.test(taken.stdout) && !/ via /.test(taken.stdout))
        throw new Error(
            `the sandbox's network 198.18.0.0/30 is already in use on this machine (${taken.stdout.trim()}); ` +
                "take that interface down, then run `npm run sandbox -- up` again",
        );
    await runCommand("ip", ["netns", "add", firstNode.networkNamespace]);
    const inside = within(firstNode);
    await runSteps([
        [
            "link",
            "add",
            hostInterface,
            "type",
            "veth",
            "peer",
            "name",
            nodeInterface,
            "netns",
            firstNode.networkNamespace,
        ],
        ["address", "add", `${addresses.host}/${addresses.linkPrefix}`, "dev", hostInterface],
        ["link", "set", hostInterface, "up"],
        [...inside, "address", "add", `${addresses.node}/${addresses.linkPrefix}`, "dev", nodeInterface],
        ["route", "add", addresses.loadBalancerPool, "via", addresses.node, "dev", hostInterface],
        ...stepsInside(firstNode),
    ]);
    await applySettings(firstNode);
}

/**
 * The second node is behind the first, which routes between it, the host and the pods of both. A bridge on the host
 * would hand their packets to the host's own firewall where that looks at bridges.
 */
async function createNetworkOfSecond(): Promise<void> {
    const { networkNamespace, address, pods } = secondNode;
    await runCommand("ip", ["netns", "add", networkNamespace]);
    const [first, second] = [within(firstNode), within(secondNode)];
    const { firstOnLinkToSecond: gateway, linkPrefix, linkToSecond } = addresses;
    await runSteps([
        [...first, "link", "add", interfaceToSecond, ...vethTo(secondNode)],
        [...first, "address", "add", `${gateway}/${linkPrefix}`, "dev", interfaceToSecond],
        [...first, "link", "set", interfaceToSecond, "up"],
        [...first, "route", "add", pods, "via", address],
        [...second, "address", "add", `${address}/${linkPrefix}`, "dev", nodeInterface],
        ...stepsInside(secondNode),
        [...second, "route", "add", addresses.linkToHost, "via", gateway],
        [...second, "route", "add", firstNode.pods, "via", gateway],
        ["route", "add", linkToSecond, "via", addresses.node, "dev", hostInterface],
    ]);
    await applySettings(secondNode);
}

const vethTo = (node: SandboxNode) =>
    ["type", "veth", "peer", "name", nodeInterface, "netns", node.networkNamespace] as const;

async function runSteps(steps: readonly (readonly string[])[]): Promise<void> {
    for (const step of steps) await runCommand("ip", step);
}

/**
 * No default route: nothing inside can reach beyond the host. Service addresses need a route, since the kernel looks
 * one up before kube-proxy's rules replace the address with a pod's.
 */
const stepsInside = (node: SandboxNode) =>
    [
        ["link", "set", nodeInterface, "up"],
        ["link", "set", "lo", "up"],
        ["route", "add", addresses.services, "dev", nodeInterface],
        ["route", "add", addresses.loadBalancerPool, "dev", nodeInterface],
    ].map((step) => [...within(node), ...step]);

async function applySettings(node: SandboxNode): Promise<void> {
    const inside = `--net=${networkNamespaceFileOf(node)}`;
    await runCommand("nsenter", [inside, "sysctl", "-qw", ...perFamily(settings, settingsIpv6).flat()]);
    const { pods, services, loadBalancerPool, podsIpv6, servicesIpv6 } = addresses;
    await runCommand("nsenter", [inside, "iptables-restore", "--noflush"], rules(pods, [services, loadBalancerPool]));
    if (choices().ipFamilies === "ipv4") return;
    await runCommand("nsenter", [inside, "ip6tables-restore", "--noflush"], rules(podsIpv6, [servicesIpv6], true));
    await runSteps(stepsOfIpv6(node));
}

/** The addresses and routes of IPv6 in a node's network namespace, and in that of the first for the second. */
function stepsOfIpv6(node: SandboxNode): string[][] {
    const inside = [...within(node), "-6"];
    const address = (value: string) => ["address", "add", `${value}/${addresses.linkPrefixIpv6}`, "nodad", "dev"];
    const own = [
        [...inside, ...address(node.addressIpv6), nodeInterface],
        [...inside, "route", "add", addresses.servicesIpv6, "dev", nodeInterface],
    ];
    if (node.name === firstNode.name) return own;
    const [first, gateway] = [[...within(firstNode), "-6"], addresses.firstOnLinkToSecondIpv6];
    return [
        ...own,
        [...first, ...address(gateway), interfaceToSecond],
        [...first, "route", "add", node.podsIpv6, "via", node.addressIpv6],
        [...inside, "route", "add", firstNode.podsIpv6, "via", gateway],
        [...inside, "route", "add", addresses.linkOfFirstIpv6, "via", gateway],
    ];
}

const settings = [
    "net.ipv4.ip_forward=1",
    // By default the kernel sends a peer one rejection per second; further rejected packets would look dropped.
    "net.ipv4.icmp_ratelimit=0",
    // A packet to an unused address of a Service would leave as it came: the host would be told of a shorter way.
    ...["all", nodeInterface].map((name) => `net.ipv4.conf.${name}.send_redirects=0`),
];

const settingsIpv6 = [
    "net.ipv6.conf.all.forwarding=1",
    // Else each pod's gateway answers only after 1 s, in which its address is looked for elsewhere.
    "net.ipv6.conf.default.accept_dad=0",
    "net.ipv6.icmp.ratelimit=0",
];

/**
 * Pods' packets that leave the pods' ranges get their node's address: the host would route answers to a pod's address
 * to the internet.
 *
 * A forwarded packet that still has a Service's address has one of no Service. Or it arrived while kube-proxy changed
 * its tables, one after the other: the Service has no pod, and is not rejected yet or anymore. If it passed, connection
 * tracking would remember it for 2 min, and all packets from the same port to the same Service would be lost. The
 * enforcer accepts what no policy forbids before any later rule, and puts its rules after the last one that contains
 * KUBE; hence this rule's comment.
 */
function rules(pods: string, services: readonly string[], ipv6 = false): string {
    const reject = (range: string, how = "", what = "") =>
        `-A FORWARD -d ${range} ${what} -m comment --comment "not replaced by KUBE-SERVICES" -j REJECT ${how}`;
    return [
        "*nat",
        `-A POSTROUTING -s ${pods} ! -d ${pods} -o ${nodeInterface} -j MASQUERADE`,
        "COMMIT",
        "*filter",
        // Of IPv6 a caller whose kernel still owns the socket takes an ICMP error for passing, and asks again for 1 s.
        ...services.flatMap((range) => (ipv6 ? [reject(range, "--reject-with tcp-reset", "-p tcp")] : [])),
        ...services.map((range) => reject(range)),
        "COMMIT",
        "",
    ].join("\n");
}

export function networkExists(): boolean {
    const files = possibleNodes.map(networkNamespaceFileOf);
    return [...files, `/sys/class/net/${hostInterface}`].some((path) => existsSync(path));
}

/** Removes the veth pairs and the namespaces with all rules and routes inside, as far as they exist. */
export async function removeNetwork(): Promise<void> {
    await tryCommand("ip", ["link", "delete", hostInterface]);
    for (const node of possibleNodes) await removeNetworkOf(node);
}

/** Takes away the cable of a node. */
export const cutOff = (node: SandboxNode) => tryCommand("ip", [...within(node), "link", "set", nodeInterface, "down"]);

/** Removes the namespace of a node and what leads to it. */
export async function removeNetworkOf(node: SandboxNode): Promise<void> {
    if (!existsSync(networkNamespaceFileOf(node))) return;
    await tryCommand("ip", [...within(node), "link", "delete", nodeInterface]);
    if (node.name === secondNode.name) await tryCommand("ip", ["route", "delete", addresses.linkToSecond]);
    await runCommand("ip", ["netns", "delete", node.networkNamespace]);
}

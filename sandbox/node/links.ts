import { existsSync } from "node:fs";
import { addresses } from "./addresses";
import { perFamily } from "./choices";
import { runCommand, tryCommand } from "../../toolchain/run-command";
import { applySettings } from "./node-settings";
import { firstNode, networkNamespaceFileOf, possibleNodes, secondNode, type SandboxNode } from "./nodes";

const { hostInterface, nodeInterface, interfaceToSecond } = addresses;

/** Whether a node's namespace and the way to it are up: from the host, or from the first node. */
export async function linkIsUp(node: SandboxNode): Promise<boolean> {
    if (!existsSync(networkNamespaceFileOf(node))) return false;
    if (node.name === secondNode.name)
        return interfaceIsUp(interfaceToSecond, addresses.firstOnLinkToSecond, within(firstNode));
    const route = await tryCommand("ip", ["-oneline", "route", "show", addresses.loadBalancerPool]);
    return (await interfaceIsUp(hostInterface, addresses.host)) && route.stdout.includes(hostInterface);
}

async function interfaceIsUp(name: string, address: string, where: string[] = []): Promise<boolean> {
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
export const createLink = (node: SandboxNode) =>
    node.name === secondNode.name ? createLinkOfSecond() : createLinkOfFirst();

/**
 * Creates the network namespace and the veth pair. On the host this adds one interface with one address and one route.
 * No setting, firewall rule or other interface changes.
 */
async function createLinkOfFirst(): Promise<void> {
    await requireFree(addresses.node, addresses.linkToHost);
    await runCommand("ip", ["netns", "add", firstNode.networkNamespace]);
    const inside = within(firstNode);
    await runSteps([
        ["link", "add", hostInterface, ...vethTo(firstNode)],
        ["address", "add", `${addresses.host}/${addresses.linkPrefix}`, "dev", hostInterface],
        ["link", "set", hostInterface, "up"],
        [...inside, "address", "add", `${addresses.node}/${addresses.linkPrefix}`, "dev", nodeInterface],
        ["route", "add", addresses.loadBalancerPool, "via", addresses.node, "dev", hostInterface],
        ...stepsInside(firstNode),
        ...perFamily([], stepsOfIpv6(firstNode)).flat(),
    ]);
    await applySettings(firstNode);
}

/** @throws Error if an interface of this machine has the address. @param range of the address */
async function requireFree(address: string, range: string): Promise<void> {
    const { stdout } = await tryCommand("ip", ["-oneline", "route", "get", address]);
    if (/ dev /.test(stdout) && !/ via /.test(stdout))
        throw new Error(
            `the sandbox's network ${range} is already in use on this machine (${stdout.trim()}); ` +
                "take that interface down, then run `npm run sandbox -- up` again",
        );
}

/**
 * The second node is behind the first, which routes between it, the host and the pods of both. A bridge on the host
 * would hand their packets to the host's own firewall where that looks at bridges.
 */
async function createLinkOfSecond(): Promise<void> {
    const { networkNamespace, address, podRange } = secondNode;
    await requireFree(address, addresses.linkToSecond);
    await runCommand("ip", ["netns", "add", networkNamespace]);
    const [first, second] = [within(firstNode), within(secondNode)];
    const { firstOnLinkToSecond: gateway, linkPrefix, linkToSecond } = addresses;
    await runSteps([
        [...first, "link", "add", interfaceToSecond, ...vethTo(secondNode)],
        [...first, "address", "add", `${gateway}/${linkPrefix}`, "dev", interfaceToSecond],
        [...first, "link", "set", interfaceToSecond, "up"],
        [...first, "route", "add", podRange, "via", address],
        [...second, "address", "add", `${address}/${linkPrefix}`, "dev", nodeInterface],
        ...stepsInside(secondNode),
        [...second, "route", "add", addresses.linkToHost, "via", gateway],
        [...second, "route", "add", firstNode.podRange, "via", gateway],
        ...perFamily([], stepsOfIpv6(secondNode)).flat(),
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
        [...first, "route", "add", node.podRangeIpv6, "via", node.addressIpv6],
        [...inside, "route", "add", firstNode.podRangeIpv6, "via", gateway],
        [...inside, "route", "add", addresses.linkOfFirstIpv6, "via", gateway],
    ];
}

export function someLinkExists(): boolean {
    const files = possibleNodes.map(networkNamespaceFileOf);
    return [...files, `/sys/class/net/${hostInterface}`].some((path) => existsSync(path));
}

/** Removes the veth pairs and the namespaces with all rules and routes inside, as far as they exist. */
export async function removeLinks(): Promise<void> {
    await tryCommand("ip", ["link", "delete", hostInterface]);
    for (const node of possibleNodes) await removeLinkOf(node);
}

/** Takes away the cable of a node. */
export const unplug = (node: SandboxNode) => tryCommand("ip", [...within(node), "link", "set", nodeInterface, "down"]);

/** Removes the namespace of a node and what leads to it. */
export async function removeLinkOf(node: SandboxNode): Promise<void> {
    if (!existsSync(networkNamespaceFileOf(node))) return;
    await tryCommand("ip", [...within(node), "link", "delete", nodeInterface]);
    if (node.name === secondNode.name) await tryCommand("ip", ["route", "delete", addresses.linkToSecond]);
    await runCommand("ip", ["netns", "delete", node.networkNamespace]);
}

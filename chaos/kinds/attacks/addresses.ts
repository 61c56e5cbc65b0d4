/** Peers outside of the cluster's pods, as a definition has them: hosts and blocks of addresses. */
import { isIP } from "node:net";
import * as z from "zod";
import { hostName } from "../../values/kubernetes-rules";
import { contains, isAddress, isCidr, isInBlock } from "../../policies/blocks";
import { describeValue, type Mistake, notAllowed, refusing } from "../../values/texts";
import { type Host, type PeerHost, type ProvenBlock, usualPorts } from "./attack-kind";

/** A block of addresses outside of the cluster's pods, with all of its ports unless the attack names some. */
export interface Block {
    /** Such as `203.0.113.0/24` or `2001:db8::/32`. */
    cidr: string;
    /** Blocks within it that stay reachable. @default none */
    except?: string[];
}

export type Address = PeerHost | Block;

const allowedPorts = { error: notAllowed("a number from 1 to 65535", "a port") };
export const portSchema = z.int(allowedPorts).min(1, allowedPorts).max(65_535, allowedPorts);

const cidr = z.string().refine(isCidr, {
    error: notAllowed(
        "an address and the length of its prefix, such as 203.0.113.0/24 or 2001:db8::/32; for one address " +
            "203.0.113.7/32",
        "a block of addresses",
    ),
});

export const hostSchema = z.strictObject({
    host: z.string().refine((text) => isAddress(text) || hostName.isValid(text), {
        error: notAllowed(hostName.allowed, "a host"),
    }),
    port: portSchema,
}) satisfies z.ZodType<Host>;

const peerHostSchema = hostSchema.extend({ port: portSchema.optional() }) satisfies z.ZodType<PeerHost>;

const isValid = ({ cidr, except = [] }: Block) => [cidr, ...except].every(isCidr);

const blockSchema = z.strictObject({ cidr, except: z.array(cidr).nonempty().optional() }).superRefine(
    // The API server has the same rule for an `ipBlock`.
    refusing(({ cidr: all, except = [] }: Block) =>
        (isValid({ cidr: all, except }) ? except : []).flatMap((one, index) => {
            const message = `${describeValue(one)} is not a part of ${all}; allowed: a smaller block within it`;
            return contains(all, one) && !contains(one, all) ? [] : { path: ["except", index], message };
        }),
    ),
) satisfies z.ZodType<Block>;

export const allowedAddresses = "{ host, port } or { cidr, except }";
export const addressSchema = z.union([peerHostSchema, blockSchema], { error: notAllowed(allowedAddresses) });

export const hostsIn = (addresses: readonly Address[]): PeerHost[] => addresses.filter((one) => "host" in one);
export const blocksIn = (addresses: readonly Address[]): Block[] => addresses.filter((one) => "cidr" in one);

/**
 * The blocks that must be proven, at each denied port.
 *
 * @param ports @default all: then a connection to any port is enough
 */
export const provenBlocks = (blocks: readonly Block[], ports?: readonly number[]): ProvenBlock[] =>
    blocks.flatMap((block) => ports?.map((port) => ({ ...block, port })) ?? [block]);

/** Whether a connection proves a block. @param host an address */
export const isProvenAt = (block: ProvenBlock, { host, port }: Host): boolean =>
    isInBlock(block, host) && (block.port ?? port) === port;

/** For people: `203.0.113.0/24 at port 443` */
export const describeBlock = ({ port, ...block }: ProvenBlock): string =>
    describeAddress(block) + (port === undefined ? "" : ` at port ${port}`);

/** For people: `api.example.com at port 443 and 203.0.113.0/24`. @param ports of blocks. @default all */
export const describeAddresses = (addresses: readonly Address[], ports?: readonly number[]): string =>
    addresses.map((one) => describeAddress(one) + ("cidr" in one && ports ? ` ${onPorts(ports)}` : "")).join(" and ");

function describeAddress(one: Address): string {
    if ("host" in one) return one.port === undefined ? one.host : `${one.host} at port ${one.port}`;
    return one.except ? `${one.cidr} except ${one.except.join(", ")}` : one.cidr;
}

/** `on ports 80, 443` */
export const onPorts = (ports: readonly number[]): string =>
    `on ${ports.length === 1 ? "port" : "ports"} ${ports.join(", ")}`;

/** Finds the mistakes that are known before names are resolved. */
export function mistakeIn(
    addresses: readonly Address[],
    ports?: readonly number[],
    control?: Host,
): Mistake | undefined {
    const [hosts, blocks] = [hostsIn(addresses), blocksIn(addresses)];
    // The schema reports mistakes of blocks by themselves.
    if (!blocks.every(isValid)) return undefined;
    if (ports && blocks.length === 0)
        return { field: "ports", message: "is for blocks of addresses, and peers name none; allowed: a host's `port`" };
    const mayProve = (block: ProvenBlock, { host, port: its }: PeerHost) =>
        (its === undefined ? usualPorts : [its]).some((port) =>
            isIP(host) > 0 ? isProvenAt(block, { host, port }) : (block.port ?? port) === port,
        );
    const unproven = provenBlocks(blocks, ports).find((block) => !hosts.some((one) => mayProve(block, one)));
    if (unproven)
        return {
            field: "peers",
            message:
                `nothing is known to answer in ${describeBlock(unproven)}, so the attack could not be proven; ` +
                `allowed: together with a host in it, { host, port${unproven.port ? `: ${unproven.port}` : ""} }`,
        };
    if (control && isDenied(control, addresses, ports))
        return {
            field: "control",
            message: `${describeAddress(control)} is among the peers; allowed: a host that the attack leaves alone`,
        };
    return undefined;
}

function isDenied({ host, port }: Host, addresses: readonly Address[], ports: readonly number[] = [port]): boolean {
    const isBlocked = (block: Block) => isIP(host) > 0 && isInBlock(block, host) && ports.includes(port);
    return (
        blocksIn(addresses).some(isBlocked) ||
        hostsIn(addresses).some((one) => one.host === host && (one.port ?? port) === port)
    );
}

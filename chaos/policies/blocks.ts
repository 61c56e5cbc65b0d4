/** Blocks of addresses, as a NetworkPolicy has them. Without exceptions, two are nested or share nothing. */
import type { V1IPBlock } from "../values/kubernetes-types";
import { BlockList, isIP, isIPv6, SocketAddress } from "node:net";

type Block = V1IPBlock;

/** All addresses, in both families. */
export const everyBlock: readonly Block[] = [{ cidr: "0.0.0.0/0" }, { cidr: "::/0" }];

/** The block that is one address. */
export const blockOf = (address: string) => `${address}/${isIPv6(address) ? 128 : 32}`;

/**
 * Whether a text is an address as the API server wants it: without a zone, and IPv4 not as IPv6.
 * https://github.com/kubernetes/enhancements/tree/master/keps/sig-network/4858-ip-cidr-validation
 */
export const isAddress = (text: string) => isIP(text) > 0 && !text.includes("%") && !/^::ffff:.*\./i.test(text);

/** Whether a text is a block of addresses as the API server wants it: `203.0.113.0/24`, `2001:db8::/32`. */
export function isCidr(text: string): boolean {
    const [address = "", prefix = "", ...more] = text.split("/");
    if (!isAddress(address) || more.length > 0 || !/^\d{1,3}$/.test(prefix)) return false;
    return Number(prefix) <= (isIPv6(address) ? 128 : 32);
}

interface Network {
    address: string;
    /** Infinity for an address. */
    prefix: number;
}

/**
 * A block or an address as the API server has read it before it refused some, which older objects keep: octets with
 * leading zeros are decimal, and `::ffff:10.0.0.0/104` is a block of IPv4. See the KEP above.
 */
function networkOf(cidr: string): Network {
    const [written = "", length = Infinity] = cidr.split("/");
    const address = written.replace(/\d+(?:\.\d+){3}$/, (octets) => octets.split(".").map(Number).join("."));
    const prefix = Number(length);
    // What remains may be an IPv4 address within IPv6: its usual form, below, shows that.
    if (prefix < 96 || !isIPv6(address) || !/ffff/i.test(address)) return { address, prefix };
    const [, mapped] = /^::ffff:([\d.]+)$/.exec(new SocketAddress({ address, family: "ipv6" }).address) ?? [];
    return mapped === undefined ? { address, prefix } : { address: mapped, prefix: prefix - 96 };
}

/** A block as the API server wants it now. */
function canonical({ cidr, except }: Block): Block {
    const written = (one: string) => {
        const { address, prefix } = networkOf(one);
        return `${address}/${prefix}`;
    };
    return { cidr: written(cidr), ...(except && { except: except.map(written) }) };
}

/** Whether a block contains all of another, or an address. */
export function contains(cidr: string, other: string): boolean {
    const { address, prefix } = networkOf(other);
    return prefix >= networkOf(cidr).prefix && containsAddress(cidr)(address);
}

/** To be asked of many addresses: reading a block takes a hundred times as long as the question. */
function containsAddress(cidr: string): (address: string) => boolean {
    const { address: network, prefix } = networkOf(cidr);
    const family = isIPv6(network) ? "ipv6" : "ipv4";
    const blocks = new BlockList();
    blocks.addSubnet(network, prefix, family);
    // A BlockList finds IPv4 addresses in `::/0`, as mapped ones. A NetworkPolicy does not.
    return (address) => isIPv6(address) === isIPv6(network) && blocks.check(address, family);
}

/** The blocks that were read already: a policy may have thousands, of which each pod and port is asked. */
const read = new WeakMap<Block, (address: string) => boolean>();

/** Whether an address is in a block, which is not changed afterwards. To be asked of many addresses. */
function inBlock(block: Block): (address: string) => boolean {
    const { cidr, except = [] } = block;
    const known = read.get(block);
    if (known) return known;
    const isIn = containsAddress(cidr);
    const excepted = except.map(containsAddress);
    const asked = (address: string) => isIn(address) && !excepted.some((isExcepted) => isExcepted(address));
    read.set(block, asked);
    return asked;
}

export const isInBlock = (block: Block, address: string) => inBlock(block)(address);

/** What some blocks have that none of others has. Exceptions are smaller than their block, as the API server wants. */
export const without = (blocks: readonly Block[], denied: readonly Block[]): Block[] =>
    denied
        .map(canonical)
        .reduce<Block[]>((left, one) => left.flatMap((block) => withoutOne(block, one)), blocks.map(canonical));

function withoutOne(block: Block, { cidr, except: spared = [] }: Block): Block[] {
    const back = spared.flatMap((one) => common(block, { cidr: one }));
    if (contains(cidr, block.cidr)) return back;
    const { except = [] } = block;
    if (!contains(block.cidr, cidr) || except.some((one) => contains(one, cidr))) return [block];
    return [{ ...block, except: [...except.filter((one) => !contains(cidr, one)), cidr] }, ...back];
}

/** What two blocks share. */
export function common(first: Block, second: Block): Block[] {
    const [one, another] = [canonical(first), canonical(second)];
    if (!contains(one.cidr, another.cidr) && !contains(another.cidr, one.cidr)) return [];
    const cidr = contains(one.cidr, another.cidr) ? another.cidr : one.cidr;
    const except = [...(one.except ?? []), ...(another.except ?? [])];
    if (except.some((excepted) => contains(excepted, cidr))) return [];
    const within = except.filter((excepted) => contains(cidr, excepted));
    return [{ cidr, ...(within.length > 0 && { except: within }) }];
}

import type { Fields } from "./fields";

/** A host, an address or a block of addresses outside of the cluster's pods, at a port. */
export interface Place {
    host: string;
    port: number;
}

/** Traffic from there, which a blackhole without ports drops elsewhere, goes on here. */
export const portNeeded = "has no port, and a blackhole of addresses is of connections to ports";

/** A block that is one address. */
const oneAddress = /^(?:([\d.]+)\/32|([\da-f:]+)\/128)$/i;

/** The peers of a blackhole. Its ports are those of each block. @param fields where the places are, at `key` */
export function peersAt(places: readonly Place[], fields: Fields, key: string) {
    const all = places.map(({ host, port }) => ({ host: host.replace(oneAddress, "$1$2"), port }));
    const blocks = all.filter(({ host }) => host.includes("/"));
    const hosts = all.filter((place) => !blocks.includes(place));
    const cidrs = [...new Set(blocks.map(({ host }) => host))];
    const ports = [...new Set(blocks.map(({ port }) => port))];
    if (cidrs.some((cidr) => ports.some((port) => !blocks.some((one) => one.host === cidr && one.port === port))))
        fields.refuse("has blocks of addresses with different ports: import one each", key);
    return { peers: [...cidrs.map((cidr) => ({ cidr })), ...hosts], ports: ports.length > 0 ? ports : undefined };
}

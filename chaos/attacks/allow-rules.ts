/** A NetworkPolicy can only allow. These rules allow everything but some ports, or everybody but some addresses. */

const lastPort = 65_535;

/** Allows every port of every protocol except some TCP and UDP ports. */
export function allPortsBut(ports: readonly number[]): { protocol: string; port?: number; endPort?: number }[] {
    const ranges: { port: number; endPort: number }[] = [];
    let next = 1;
    for (const port of [...new Set(ports)].sort((a, b) => a - b)) {
        if (port > next) ranges.push({ port: next, endPort: port - 1 });
        next = port + 1;
    }
    if (next <= lastPort) ranges.push({ port: next, endPort: lastPort });
    return [
        ...["TCP", "UDP"].flatMap((protocol) => ranges.map((range) => ({ protocol, ...range }))),
        { protocol: "SCTP" },
    ];
}

/** Allows every address except some. A family without an excluded address is left out: the cluster may not have it. */
export function everyoneBut(addresses: readonly string[]): { ipBlock: { cidr: string; except: string[] } }[] {
    const families = [
        { cidr: "0.0.0.0/0", bits: 32, except: addresses.filter((address) => !address.includes(":")) },
        { cidr: "::/0", bits: 128, except: addresses.filter((address) => address.includes(":")) },
    ];
    return families
        .filter(({ except }) => except.length > 0)
        .map(({ cidr, bits, except }) => ({
            ipBlock: { cidr, except: except.map((address) => `${address}/${bits}`) },
        }));
}

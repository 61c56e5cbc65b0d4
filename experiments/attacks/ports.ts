const lastPort = 65_535;

/** Every port of every protocol but some of TCP and UDP, as a NetworkPolicy allows them: it knows no "all but". */
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

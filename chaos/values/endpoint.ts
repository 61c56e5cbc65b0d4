/** The endpoint that is a port of a pod: `10.244.0.7:8080`, `[fd00::7]:8080`. */
export function endpoint(address: string, port: number): string {
    return `${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/** What `endpoint` made an endpoint of. */
export function parseEndpoint(text: string): { host: string; port: number } {
    const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(text)!;
    return { host: host!, port: Number(port) };
}

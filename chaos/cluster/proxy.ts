import { BlockList, isIP } from "node:net";

/** The environment's variables, or those of a test. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy through which a URL is asked: `HTTPS_PROXY` or `HTTP_PROXY`, unless `NO_PROXY` has the host, in capitals or
 * small letters. It decides as Go's programs do, so that kubectl, Pulumi's provider and this program reach the same
 * cluster: this machine is never asked through a proxy, and `NO_PROXY` lists hosts, domains with all below them,
 * addresses and networks (`10.0.0.0/8`), or is `*`.
 *
 * @see https://pkg.go.dev/golang.org/x/net/http/httpproxy#Config
 * @returns undefined if it is asked directly, or is no URL
 */
export function proxyFor(url: string, environment: Environment = process.env): string | undefined {
    if (!URL.canParse(url)) return undefined;
    const valueOf = (name: string) => environment[name.toUpperCase()] || environment[name] || "";
    const { protocol, hostname, port } = new URL(url);
    const proxy = valueOf(`${protocol.slice(0, -1)}_proxy`);
    const exempt = ["localhost", "127.0.0.0/8", "::1", ...valueOf("no_proxy").toLowerCase().split(",")];
    const host = hostname.replace(/^\[|\]$/g, "");
    if (proxy === "" || isAmong(exempt, host, port || (protocol === "https:" ? "443" : "80"))) return undefined;
    return proxy.includes("://") ? proxy : `http://${proxy}`;
}

function isAmong(entries: readonly string[], host: string, port: string): boolean {
    const addresses = new BlockList();
    const family = (address: string) => (isIP(address) === 6 ? "ipv6" : "ipv4");
    const isNamed = (entry: string) => {
        const [address = "", bits = isIP(entry) === 6 ? "128" : "32"] = entry.split("/");
        if (isIP(address) && /^\d+$/.test(bits) && Number(bits) <= (isIP(address) === 6 ? 128 : 32))
            return void addresses.addSubnet(address, Number(bits), family(address));
        const [, name = "", only = port] = /^\[?(.+?)\]?(?::(\d+))?$/.exec(entry.replace(/^\*\./, ".")) ?? [];
        const isBelow = name !== "" && host.endsWith(name.startsWith(".") ? name : `.${name}`);
        return entry === "*" || (only === port && (host === name || isBelow));
    };
    const isListed = entries.map((entry) => isNamed(entry.trim())).includes(true);
    return isListed || (isIP(host) !== 0 && addresses.check(host, family(host)));
}

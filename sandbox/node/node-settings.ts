import { addresses } from "./addresses";
import { choices, perFamily } from "./choices";
import { runCommand } from "../../toolchain/run-command";
import { networkNamespaceFileOf, type SandboxNode } from "./nodes";

/** Applies kernel settings and firewall rules in a node's network namespace. */
export async function applySettings(node: SandboxNode): Promise<void> {
    const inside = `--net=${networkNamespaceFileOf(node)}`;
    await runCommand("nsenter", [inside, "sysctl", "-qw", ...perFamily(settings, settingsIpv6).flat()]);
    const { podRange, services, loadBalancerPool, podRangeIpv6, servicesIpv6 } = addresses;
    const restore = (family: "" | "6", rules: string) =>
        runCommand("nsenter", [inside, `ip${family}tables-restore`, "--noflush"], { input: rules });
    await restore("", rulesFor(podRange, [services, loadBalancerPool]));
    if (choices().ipFamilies === "ipv4,ipv6") await restore("6", rulesFor(podRangeIpv6, [servicesIpv6], true));
}

const settings = [
    "net.ipv4.ip_forward=1",
    // By default the kernel sends a peer one rejection per second; further rejected packets would look dropped.
    "net.ipv4.icmp_ratelimit=0",
    // A packet to an unused address of a Service would leave as it came: the host would be told of a shorter way.
    ...["all", addresses.nodeInterface].map((name) => `net.ipv4.conf.${name}.send_redirects=0`),
];

const settingsIpv6 = [
    ...["all", "default"].map((name) => `net.ipv6.conf.${name}.disable_ipv6=0`),
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
 * KUBE; hence the comment of these rules.
 */
function rulesFor(pods: string, services: readonly string[], isIpv6 = false): string {
    const reject = (range: string, how = "", what = "") =>
        `-A FORWARD -d ${range} ${what} -m comment --comment "not replaced by KUBE-SERVICES" -j REJECT ${how}`;
    return [
        "*nat",
        `-A POSTROUTING -s ${pods} ! -d ${pods} -o ${addresses.nodeInterface} -j MASQUERADE`,
        "COMMIT",
        "*filter",
        // Of IPv6 a caller whose kernel still owns the socket takes an ICMP error for passing, and asks again for 1 s.
        ...services.flatMap((range) => (isIpv6 ? [reject(range, "--reject-with tcp-reset", "-p tcp")] : [])),
        ...services.map((range) => reject(range)),
        "COMMIT",
        "",
    ].join("\n");
}

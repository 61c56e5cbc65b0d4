import { readFileSync } from "node:fs";
import { layout, writeFileAtomically } from "./layout";

/** The programs that connect pods and enforce their NetworkPolicies; `networks/` has a file for each. */
export const networkNames = ["kube-router", "calico", "cilium"] as const;
export type NetworkName = (typeof networkNames)[number];

/**
 * What the network does with traffic that a NetworkPolicy denies: `drop` it, so that a connection times out; or
 * `reject` it, so that a connection is refused.
 */
export const deniedTrafficChoices = ["drop", "reject"] as const;
export type DeniedTraffic = (typeof deniedTrafficChoices)[number];

export const nodeCounts = [1, 2] as const;

/** The address families of pods and Services. The first one is that of a Service that asks for one only. */
export const ipFamiliesChoices = ["ipv4", "ipv4,ipv6"] as const;
export type IpFamilies = (typeof ipFamiliesChoices)[number];

/** What a sandbox is started with. */
export interface Choices {
    readonly network: NetworkName;
    readonly nodes: (typeof nodeCounts)[number];
    readonly ipFamilies: IpFamilies;
    readonly denied: DeniedTraffic;
}

const atFirst: Choices = { network: "kube-router", nodes: 1, ipFamilies: "ipv4", denied: "drop" };

/** What was chosen last, or {@link atFirst}. */
export function choices(): Choices {
    try {
        return { ...atFirst, ...(JSON.parse(readFileSync(layout.choices, "utf8")) as Partial<Choices>) };
    } catch {
        return atFirst; // Nothing was chosen yet.
    }
}

/** Keeps choices for the next start, and for those after it. */
export function keepChoices(chosen: Choices): void {
    writeFileAtomically(layout.choices, JSON.stringify(chosen));
}

/**
 * What is chosen by some wishes, with the rest as before. What an earlier choice of the network allowed and this one
 * does not goes back to its default.
 *
 * @throws Error for a wish that the network cannot fulfil, with the reason
 */
export function chosenBy(wanted: Partial<Choices>, before = choices()): Choices {
    const chosen = { ...before, ...definedOf(wanted) };
    if (chosen.network === "kube-router") return chosen;
    const only = `only \`--network kube-router\` does; the chosen network is ${chosen.network}`;
    if (wanted.denied === "reject")
        throw new Error(
            `--denied reject: ${chosen.network} does not reject what a policy denies, it drops it: ${only}`,
        );
    if (wanted.ipFamilies === "ipv4,ipv6")
        throw new Error(`--ip-families ipv4,ipv6: the sandbox does not give ${chosen.network} IPv6 addresses: ${only}`);
    return { ...chosen, denied: "drop", ipFamilies: "ipv4" };
}

const definedOf = (wanted: Partial<Choices>) =>
    Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined)) as Partial<Choices>;

/** What is there for each family, or for IPv4 only. */
export function perFamily<T>(ipv4: T, ipv6: T): T[] {
    return choices().ipFamilies === "ipv4" ? [ipv4] : [ipv4, ipv6];
}

/** Whether pods must be made anew: their interfaces and addresses are those of a network and its nodes. */
export function needsNewPods(before: Choices, after: Choices): boolean {
    return (["network", "nodes", "ipFamilies"] as const).some((field) => before[field] !== after[field]);
}

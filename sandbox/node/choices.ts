import { existsSync, readFileSync } from "node:fs";
import { layout, writeFileAtomically } from "./layout";

/** The programs that connect pods and enforce their NetworkPolicies; `networks/` has a file for each. */
export const networkNames = ["kube-router", "calico", "cilium"] as const;
export type NetworkName = (typeof networkNames)[number];

/**
 * What the network does with traffic that a NetworkPolicy denies: `drop` it, so that a connection times out; or
 * `reject` it, so that a connection is refused.
 */
export const deniedTrafficValues = ["drop", "reject"] as const;
export type DeniedTraffic = (typeof deniedTrafficValues)[number];

/** `nodes.ts`, `links.ts`, `addresses.ts`, `up.ts` and `down.ts` know the second by name: a third needs more than 3. */
export const nodeCounts = [1, 2] as const;

/** The address families of pods and Services. The first one is that of a Service that asks for one only. */
export const ipFamiliesValues = ["ipv4", "ipv4,ipv6"] as const;
export type IpFamilies = (typeof ipFamiliesValues)[number];

/** What a sandbox is started with. */
export interface Choices {
    readonly network: NetworkName;
    readonly nodes: (typeof nodeCounts)[number];
    readonly ipFamilies: IpFamilies;
    readonly denied: DeniedTraffic;
}

const defaults: Choices = { network: "kube-router", nodes: 1, ipFamilies: "ipv4", denied: "drop" };

/**
 * What was chosen last, or the defaults.
 *
 * @throws Error if the file is damaged, with how to mend it
 */
export function choices(): Choices {
    if (!existsSync(layout.choices)) return defaults;
    const kept = readFileSync(layout.choices, "utf8");
    try {
        const chosen = { ...defaults, ...(JSON.parse(kept) as Partial<Choices>) };
        if (networkNames.includes(chosen.network) && nodeCounts.includes(chosen.nodes)) return chosen;
    } catch {
        // No JSON.
    }
    throw new Error(
        `${layout.choices} is not what the sandbox was started with: ${kept}\n` +
            "Delete this file, then run `npm run sandbox -- up` with the network and nodes that you want.",
    );
}

/** Keeps choices for the next start, and for those after it. */
export function keepChoices(chosen: Choices): void {
    writeFileAtomically(layout.choices, JSON.stringify(chosen));
}

/** What the sandbox can do with each network. The first of each is the default. */
export const abilities: Readonly<
    Record<NetworkName, { readonly denied: readonly DeniedTraffic[]; readonly ipFamilies: readonly IpFamilies[] }>
> = {
    "kube-router": { denied: deniedTrafficValues, ipFamilies: ipFamiliesValues },
    calico: { denied: ["drop"], ipFamilies: ["ipv4"] },
    cilium: { denied: ["drop"], ipFamilies: ["ipv4"] },
};

/**
 * The choices after a change. What the network that is then chosen cannot do returns to its default.
 *
 * @throws Error for a wish that the network cannot fulfil, with the command that can
 */
export function changedChoices(wanted: Partial<Choices>, before = choices()): Choices {
    const chosen = { ...before, ...definedOf(wanted) };
    const { denied, ipFamilies } = abilities[chosen.network];
    const instead = (option: string) => `Run \`npm run sandbox -- up --network kube-router ${option}\``;
    if (wanted.denied && !denied.includes(wanted.denied))
        throw new Error(
            `--denied is "${wanted.denied}", but ${chosen.network} can only ${denied.join()} denied traffic. ` +
                instead(`--denied ${wanted.denied}`),
        );
    if (wanted.ipFamilies && !ipFamilies.includes(wanted.ipFamilies))
        throw new Error(
            `--ip-families is "${wanted.ipFamilies}", but the sandbox has only ${ipFamilies.join()} with ` +
                `${chosen.network}. ${instead(`--ip-families ${wanted.ipFamilies}`)}`,
        );
    return {
        ...chosen,
        denied: denied.includes(chosen.denied) ? chosen.denied : denied[0]!,
        ipFamilies: ipFamilies.includes(chosen.ipFamilies) ? chosen.ipFamilies : ipFamilies[0]!,
    };
}

const definedOf = (wanted: Partial<Choices>) =>
    Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined)) as Partial<Choices>;

/** What is there for each family, or for IPv4 only. */
export function perFamily<T>(ipv4: T, ipv6: T): T[] {
    return choices().ipFamilies === "ipv4" ? [ipv4] : [ipv4, ipv6];
}

/** Whether all pods must be recreated: their interfaces and addresses are those of a network and its nodes. */
export function needsNewPods(before: Choices, after: Choices): boolean {
    return (["network", "nodes", "ipFamilies"] as const).some((field) => before[field] !== after[field]);
}

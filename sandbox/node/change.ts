import { existsSync } from "node:fs";
import { type Choices, choices, keepChoices, needsNewPods } from "./choices";
import { takeDown } from "./down";
import { someLinkExists } from "./links";
import { step } from "./lock";

/** Keeps the choices. What runs with others that pods are made for is stopped first. */
export async function change(wanted: Choices): Promise<void> {
    const before = choices();
    if (needsNewPods(before, wanted) && someLinkExists()) {
        step(`Changing from ${inWords(before)} to ${inWords(wanted)}`);
        await takeDown();
    }
    keepChoices(wanted);
}

const inWords = ({ network, nodes, ipFamilies, denied }: Choices) =>
    `${network}, ${nodes} ${nodes === 1 ? "node" : "nodes"}, ${ipFamilies}, denied traffic: ${denied}`;

/** @throws Error if this machine lacks what the choices need, before anything is touched */
export function requireFit({ network, ipFamilies }: Choices): void {
    if (ipFamilies === "ipv4,ipv6" && !existsSync("/proc/sys/net/ipv6"))
        throw new Error("--ip-families ipv4,ipv6: this machine's kernel has no IPv6. Use `--ip-families ipv4`");
    if (network !== "kube-router" && !existsSync("/sys/fs/bpf"))
        throw new Error(`--network ${network}: this machine has no /sys/fs/bpf. Use \`--network kube-router\``);
}

/** Adds to an error of a start with other choices the command that goes back. */
export const tellWayBack = (before: Choices) => (error: unknown) => {
    if (error instanceof Error && needsNewPods(before, choices())) {
        const { network, nodes, ipFamilies, denied } = before;
        const options = `--network ${network} --nodes ${nodes} --ip-families ${ipFamilies} --denied ${denied}`;
        error.message += `\nTo go back: npm run sandbox -- up ${options}`;
    }
    throw error;
};

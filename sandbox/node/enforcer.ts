import { runCommand } from "./command";
import { networkPolicy, networkPolicyEnforcer } from "./components/network-policy";
import { stderrReporter } from "./down";
import { nodeLayout } from "./layout";
import { withNodeLock } from "./lock";
import { namespaceHolder } from "./namespaces";
import { nodeParts } from "./node-parts";
import { runningComponent, startComponent, stopComponent } from "./processes";

/**
 * Makes the sandbox a cluster that accepts NetworkPolicies and enforces none, as many real ones are: stops the enforcer
 * alone and takes its rules away. `startEnforcer`, or the next `sandboxUp`, brings it back.
 *
 * @throws if the sandbox is not up.
 */
export async function stopEnforcer(): Promise<void> {
    const layout = nodeLayout();
    await withNodeLock(layout, stderrReporter(), async () => {
        const holder = requireHolder();
        await stopComponent(layout, networkPolicyEnforcer, 2);
        const inside = ["--target", String(holder), "--net", "--mount"];
        const rules = await runCommand("nsenter", [...inside, "iptables-save"]);
        await runCommand("nsenter", [...inside, "iptables-restore", "--noflush"], withoutEnforcer(rules));
        const sets = (await runCommand("nsenter", [...inside, "ipset", "list", "-name"])).split("\n");
        for (const set of sets.filter((name) => /^(inet6:)?(KUBE-(SRC|DST|PEER)|kube-router-)/.test(name))) {
            await runCommand("nsenter", [...inside, "ipset", "destroy", set]);
        }
    });
}

/** Starts the enforcer again after {@link stopEnforcer}; it has read all policies after about a second. */
export async function startEnforcer(): Promise<void> {
    const layout = nodeLayout();
    await withNodeLock(layout, stderrReporter(), () =>
        startComponent(layout, networkPolicy(layout, nodeParts()), requireHolder()),
    );
}

/** The process id of the holder of the sandbox's namespaces. @throws where the sandbox is not up */
export function requireHolder(): number {
    const holder = runningComponent(nodeLayout(), namespaceHolder);
    if (!holder) throw new Error("the sandbox is not up; `npm run sandbox -- up` brings it up");
    return holder.pid;
}

/** kube-router's own chains, in all their kinds. */
const enforcerChain = /^(KUBE-ROUTER-|KUBE-POD-FW-|KUBE-NWPLCY-)/;

/**
 * What `iptables-restore --noflush` must be told to take kube-router's rules and chains out of a rule set and leave
 * kube-proxy's in place.
 *
 * @param saved the output of `iptables-save`.
 */
export function withoutEnforcer(saved: string): string {
    const lines: string[] = [];
    for (const table of saved.split(/^COMMIT$/m)) {
        const name = /^\*(\w+)$/m.exec(table)?.[1];
        if (!name) continue;
        const chains = [...table.matchAll(/^:(\S+)/gm)]
            .map((match) => match[1]!)
            .filter((chain) => enforcerChain.test(chain));
        const jumps = [...table.matchAll(/^-A (\S+) .*$/gm)]
            .filter(
                ([rule, chain]) =>
                    !enforcerChain.test(chain!) && rule.split(" ").some((word) => enforcerChain.test(word)),
            )
            .map(([rule]) => rule.replace("-A ", "-D "));
        if (chains.length === 0 && jumps.length === 0) continue;
        lines.push(
            `*${name}`,
            ...jumps,
            ...chains.map((chain) => `-F ${chain}`),
            ...chains.map((chain) => `-X ${chain}`),
            "COMMIT",
        );
    }
    return `${lines.join("\n")}\n`;
}

import { runCommand } from "../../../toolchain/run-command";
import { choices } from "../../node/choices";
import { enforcerOn, kubeRouter } from "../../node/networks/kube-router";
import { type SandboxNode, sandboxNodes } from "../../node/nodes";
import { withNodeLock } from "../../node/lock";
import { holderPid, startComponent, stopComponent } from "../../node/processes";

/**
 * Makes the sandbox a cluster that accepts NetworkPolicies and enforces none, as many clusters do: stops the enforcer
 * on each node and removes its rules. `startEnforcer` or `sandboxUp` starts it again. Only with kube-router: felix
 * leaves its rules when it stops, and BPF programs enforce without their agent.
 *
 * @throws if the sandbox is not up.
 */
export async function stopEnforcer(): Promise<void> {
    if (choices().network !== "kube-router") throw new Error(`${choices().network} enforces without its agent`);
    await withNodeLock(() => Promise.all(sandboxNodes().map(stopOn)));
}

async function stopOn(node: SandboxNode): Promise<void> {
    const holder = holderPid(node);
    await stopComponent(enforcerOn(node), 2);
    const inside = ["--target", String(holder), "--net", "--mount"];
    for (const family of ["", "6"]) {
        const rules = await runCommand("nsenter", [...inside, `ip${family}tables-save`]);
        await runCommand("nsenter", [...inside, `ip${family}tables-restore`, "--noflush"], {
            input: withoutEnforcer(rules),
        });
    }
    const sets = (await runCommand("nsenter", [...inside, "ipset", "list", "-name"])).split("\n");
    for (const set of sets.filter((name) => /^(inet6:)?(KUBE-(SRC|DST|PEER)|kube-router-)/.test(name))) {
        await runCommand("nsenter", [...inside, "ipset", "destroy", set]);
    }
}

/** Starts the enforcer after {@link stopEnforcer}. It has read all policies after about 1 s. */
export async function startEnforcer(): Promise<void> {
    const { denied } = choices();
    await withNodeLock(() =>
        Promise.all(sandboxNodes().map((node) => startComponent(kubeRouter.enforcer(node, denied)))),
    );
}

/** kube-router's chains. */
const enforcerChain = /^(KUBE-ROUTER-|KUBE-POD-FW-|KUBE-NWPLCY-)/;

/**
 * The input of `iptables-restore --noflush` that removes kube-router's rules and chains, and keeps kube-proxy's.
 *
 * @param saved the output of `iptables-save`.
 */
function withoutEnforcer(saved: string): string {
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

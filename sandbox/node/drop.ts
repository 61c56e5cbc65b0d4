import { runCommand } from "./command";
import { requireHolder } from "./enforcer";

/**
 * Swallows every packet from one pod to another without a word, as many clusters' networks do where a policy forbids
 * something; the sandbox's own enforcer refuses. It takes hold after a Service's address became a pod's.
 *
 * @param from address of the pod that asks
 * @param to address of the pod that is asked
 * @returns what ends it
 * @throws if the sandbox is not up.
 */
export async function dropPackets(from: string, to: string): Promise<() => Promise<void>> {
    const rule = ["FORWARD", "--source", from, "--destination", to, "--jump", "DROP"];
    const iptables = async (action: "--insert" | "--delete") => {
        const inside = ["--target", String(requireHolder()), "--net", "--mount"];
        await runCommand("nsenter", [...inside, "iptables", "--wait", "--table", "mangle", action, ...rule]);
    };
    await iptables("--insert");
    return () => iptables("--delete");
}

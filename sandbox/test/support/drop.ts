import { runCommand } from "../../node/command";
import { requireHolder } from "./enforcer";

/**
 * Drops all packets from one pod to another, after Service addresses were replaced. Many clusters' networks drop what a
 * NetworkPolicy forbids; the sandbox's enforcer rejects it.
 *
 * @param from address of the client pod
 * @param to address of the server pod
 * @returns removes the rule
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

import type { OutputMap } from "@pulumi/pulumi/automation";
import { say } from "./print";
import { type Session } from "./session";
import { reportShop } from "./shop-report";
import { fileOfStack, StackFile } from "./stack-file";

/** The update has waited for the pods; what is left is that the cluster routes to them. */
const patienceMs = 10_000;

/**
 * Says whether the shop is up after a session's last update; see `reportShop`.
 *
 * @param stack the session's
 * @param outputs of that update
 * @returns whether the shop is up
 */
export function reportSession(session: Session, stack: string, outputs: OutputMap): Promise<boolean> {
    say();
    return reportShop({
        cluster: session.cluster,
        outputs,
        stack,
        ownExperiment: session.setting("experiment.enabled") === "true",
        keyIsSet: hasAgentKey(session, stack),
        patienceMs,
        say,
    });
}

/** Whether plain Pulumi finds the agent's key, or needs none. A key that the session made is not in the file. */
function hasAgentKey(session: Session, stack: string): boolean {
    return session.setting("agent.enabled") === "false" || new StackFile(fileOfStack(stack)).has("agent.key");
}

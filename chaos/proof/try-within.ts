import type { Cluster } from "../cluster/client";
import { problemOf } from "../cluster/problem";
import { runWithin } from "../cluster/run-within";
import type { Prober, Target } from "../targets/containers";
import { commandFor, kindOf, noTool, type Question, toolNames } from "./tools";

/** Whether it worked, and what was printed; or why it could not be tried. */
export type Tried = { worked: boolean; output: string } | { problem: string };

/**
 * Tries something from within a running container, or another of its pod, with the tools that this has. Adds nothing to
 * the pod, and leaves nothing: the process ends within seconds.
 *
 * @param timeoutMs what has not worked by then does not work
 */
export async function tryWithin(
    cluster: Cluster,
    target: Pick<Target, "namespace" | "pod" | "container" | "prober">,
    question: Question,
    timeoutMs: number,
): Promise<Tried> {
    const { container, program }: Prober = target.prober ?? { container: target.container };
    const where = `${target.pod}/${container}`;
    try {
        const command = commandFor(question, timeoutMs, program);
        const { exitCode, output } = await runWithin(cluster, { ...target, container }, command);
        if (exitCode !== noTool) return { worked: exitCode === 0, output };
        const tools = toolNames([kindOf(question)]);
        return { problem: `${where} has none of the tools to try it with (${tools})` };
    } catch (error) {
        return { problem: `nothing can be run in ${where}: ${problemOf(error)}` };
    }
}

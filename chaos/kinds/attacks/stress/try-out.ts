/** What the run tries in the targets of a stress before it: with what they can be stressed, and whether that shows. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../../../cluster/client";
import { problemOf } from "../../../cluster/problem";
import { ExecRefused, isLacking, runWithin } from "../../../cluster/run-within";
import { inTurns } from "../../../values/async";
import { groupedBy } from "../../../values/grouped";
import { ReasonError } from "../../../values/reasons";
import type { Target } from "../../../targets/containers";
import type { RunAttack } from "../attack-kind";
import { type StressArgs, whyUnfit, whyUnfitTogether } from "./taken";
import { onlyReads, programOf, type Tool, tools } from "./stress-programs";
import type { StressTarget } from "./stress-target";
import { type Files, filesFor, filesIn, ownCgroups, rateBetween, type Reading, readingOf } from "./readings";

/** A process in a container costs its node some 70 ms. */
const maxTried = 10;
/** What a container uses before the attack is measured so long. */
const measuredMs = 2_000;

/**
 * Finds a tool in each target, and what its container uses before the attack.
 *
 * @throws ReasonError if a target has no tool, its cgroup cannot be read, or a stress would not show or hit others
 */
export const tryStress = ({ attack, chosen }: RunAttack<StressArgs>, cluster: Cluster): Promise<StressTarget[]> =>
    inTurns(chosen.targets, maxTried, (target) => tryOne(attack, target, cluster));

/** @throws ReasonError if the stresses of a run would together hit others on a node, or not fit there */
export function refuseOnOneNode(attacks: readonly RunAttack<StressArgs>[]): void {
    const stressed = attacks.flatMap(({ attack, chosen: { targets, tried } }) =>
        (tried as readonly StressTarget[]).map(({ before }, index) => ({ node: targets[index]!.node, attack, before })),
    );
    for (const [node, some] of groupedBy(stressed, ({ node }) => node)) {
        const unfit = node && whyUnfitTogether(some);
        if (unfit) throw new ReasonError("attack-refused", `the targets on ${node} ${unfit.what}`, unfit.advice);
    }
}

async function tryOne(attack: StressArgs, target: Target, cluster: Cluster): Promise<StressTarget> {
    const { pod, uid, container, containerId } = target;
    const where = `${pod}/${container}`;
    const { tool, files: seen } = await toolIn(target, cluster);
    const files = filesFor(seen.get(ownCgroups));
    const read = async (): Promise<Reading> => {
        const { files: found } = await run(target, tool, files, cluster);
        const reading = readingOf(found);
        if (reading !== undefined) return reading;
        throw new ReasonError(
            "attack-refused",
            `${where} does not show its cgroup in /sys/fs/cgroup`,
            "Choose another container",
        );
    };
    const first = await read();
    await sleep(measuredMs);
    const before = await read();
    const unfit = whyUnfit(attack, rateBetween(first, before), before, tool);
    if (unfit) throw new ReasonError("attack-refused", `the container ${where} ${unfit.what}`, unfit.advice);
    return {
        pod,
        uid,
        container,
        containerId,
        tool,
        files: files.filter((file) => file !== ownCgroups),
        first,
        before,
    };
}

/** The first tool that a container has. */
async function toolIn(target: Target, cluster: Cluster): Promise<{ tool: Tool; files: Files }> {
    const where = `${target.pod}/${target.container}`;
    const failures: string[] = [];
    for (const tool of Object.keys(tools) as Tool[]) {
        const found = await run(target, tool, filesFor(), cluster).catch((error: unknown) => {
            if (isLacking(error)) return undefined;
            if (!(error instanceof ExecRefused)) throw error;
            const message = `nothing may be run in ${where}: ${error.message}`;
            throw new ReasonError("exec-refused", message, "Let commands be run in this pod, or choose another target");
        });
        if (found === undefined) continue;
        // Such as a shell without `/proc`.
        if (found.files.has("/proc/uptime")) return { tool, files: found.files };
        if (!found.isLacking) failures.push(tool);
    }
    const names = Object.keys(tools)
        .filter((name) => !name.startsWith("/"))
        .join(", ");
    const failed = failures.length > 0 ? `; ${failures.join(", ")} did not work` : "";
    const message = `the container ${where} has none of the tools that could load it (${names})${failed}`;
    throw new ReasonError("no-tool", message, "Choose a container with one of these");
}

/** Has a program read the files, and end: it has no input. @throws Error if nothing can be run */
async function run(target: Target, tool: Tool, files: readonly string[], cluster: Cluster) {
    const command = programOf(tool, { ...onlyReads, files });
    const ran = await runWithin(cluster, target, command).catch((error: unknown) => {
        if (error instanceof ExecRefused || isLacking(error)) throw error;
        throw new ReasonError(
            "attack-refused",
            `nothing could be run in ${target.pod}/${target.container}: ${problemOf(error)}`,
            "Start another run",
        );
    });
    return { isLacking: isLacking(ran), files: filesIn(ran.output) };
}

import type { RunningExperiment, RunningExperiments } from "../chaos/lease/running";
import { cleanUpCommands } from "../chaos/lease/lease";
import { stopCommand } from "../chaos/lease/lease-record";
import { describeMilliseconds } from "../chaos/values/duration";

/**
 * What is attacked now, by whom and until when, as text.
 *
 * @param own the stack's namespace, and the kubeconfig context of its cluster
 */
export function describeStatus(
    { running, everywhere }: RunningExperiments,
    { namespace: own, context }: { namespace: string; context: string },
): string {
    const searched = everywhere ? "" : ` in namespace ${own}. Your account may not list other namespaces`;
    if (running.length === 0) return `No experiment runs${searched}.`;
    const blocks = running.map((experiment) =>
        [
            `Namespace ${experiment.namespace}: ${experiment.experiment}`,
            `  By       ${experiment.lease?.holder ?? "no run: its labels are left over"}`,
            `  Attacks  ${describeTargets(experiment)}`,
            `  Until    ${describeEnd(experiment)}`,
            `  End it   ${endLines(experiment, { context }).join("\n           ")}`,
        ].join("\n"),
    );
    const unseen = everywhere ? [] : [`Only namespace ${own}: your account may not list other namespaces.`];
    return [...blocks, ...unseen].join("\n\n");
}

/** `hot-deals-6f5c (blackhole)`, comma-separated. */
export function describeTargets({ targets }: RunningExperiment): string {
    if (targets.length === 0) return "no pod now: the attack has not begun, is over, or is a kill, whose pods are gone";
    return targets.map(({ pod, attack }) => `${pod} (${attack})`).join(", ");
}

function describeEnd({ lease }: RunningExperiment): string {
    if (lease === undefined) return "the next update of its stack, or the commands below";
    const { endsAt, endsInMs } = lease;
    const [at, far] = [new Date(endsAt).toISOString(), describeMilliseconds(Math.abs(endsInMs))];
    return endsInMs > 0
        ? `it is disabled or its deadline passes, at the latest ${at} (in ${far})`
        : `its lease ended at ${at} (${far} ago); the next update removes what is left`;
}

/**
 * What ends the attacks in a namespace without Pulumi: commands, and what is left then.
 *
 * @param typed shows a command
 */
export function endLines(
    { lease, namespace }: Pick<RunningExperiment, "lease" | "namespace">,
    { context, typed = plain }: { context: string; typed?: (command: string) => string },
): string[] {
    const place = { context, namespace };
    if (lease !== undefined && lease.endsInMs > 0) return [typed(stopCommand(place))];
    return [...cleanUpCommands(place).map(typed), "The next update of its stack removes the rest"];
}

const plain = (command: string) => `$ ${command}`;

import type { V1ContainerStatus, V1Pod } from "@kubernetes/client-node";

/** Why a pod is not ready, as far as its status says. */
export interface PodProblems {
    /** The scheduler's message, if no node takes the pod. */
    unscheduled?: string;
    /** Containers that are not ready. */
    containers: ContainerProblem[];
}

export interface ContainerProblem {
    name: string;
    /** What the container waits for, such as `CrashLoopBackOff`. */
    waitsFor?: string;
    /** What it waits for and how it ended, in words. */
    reason: string;
}

export function problemsOf({ status }: V1Pod): PodProblems {
    const condition = status?.conditions?.find(({ type, status }) => type === "PodScheduled" && status === "False");
    return {
        unscheduled: condition && (condition.message ?? "no reason given"),
        containers: (status?.containerStatuses ?? []).flatMap(containerProblem),
    };
}

function containerProblem({ name, ready, state, lastState }: V1ContainerStatus): ContainerProblem[] {
    if (ready) return [];
    const { reason: waitsFor, message } = state?.waiting ?? {};
    const ended = state?.terminated ?? lastState?.terminated;
    const waiting = [waitsFor, message].filter(Boolean).join(": ");
    const exit = ended && `it ended with code ${ended.exitCode} (${ended.reason})`;
    const reason = [waiting, exit].filter(Boolean).join("; ");
    return reason === "" ? [] : [{ name, waitsFor, reason }];
}

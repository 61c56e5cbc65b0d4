import { type AttributeExpression, parseAttributes } from "./attributes";
import type { Discovered } from "./containers";

/** What an attack may choose among the containers that match its target. */
export interface Eligibility {
    target: AttributeExpression;
    /** Whether pods that are not ready may be chosen. @default false */
    includeNotReady?: boolean;
    /** Set if the attack deletes its targets' pods. */
    deletesPods?: boolean;
}

export type LeftOut = "not ready" | "bare pod" | "pod of a Job";

/**
 * Why an attack leaves out a container that matches its target. Undefined if it may choose it. A container that cannot
 * serve anyway shows nothing, unless that is asked for. A kill deletes no pod that nothing would replace, and a Job's
 * only if its target asks for Jobs: each deletion counts against the Job's limit of failures.
 */
export function whyLeftOut(
    container: Discovered,
    { target, includeNotReady, deletesPods }: Eligibility,
): LeftOut | undefined {
    if (!container.ready && !includeNotReady) return "not ready";
    return deletesPods ? whySpared(container, target) : undefined;
}

/** Why a kill spares the pod of a container that matches its target. Undefined if it may delete it. */
export function whySpared({ bare, attributes }: Discovered, target: AttributeExpression): LeftOut | undefined {
    if (bare) return "bare pod";
    return "k8s.job" in attributes && !namesJob(target) ? "pod of a Job" : undefined;
}

const namesJob = (target: AttributeExpression) =>
    parseAttributes(target).some(({ key, negated }) => key === "k8s.job" && !negated);

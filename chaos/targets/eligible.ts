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

/**
 * Why an attack leaves out a container that matches its target; completes "its pod is …". Undefined if it may choose
 * it. A container that cannot serve anyway shows nothing, unless that is asked for. A kill deletes no pod that nothing
 * would replace, and a Job's only if its target asks for Jobs: each deletion counts against the Job's limit.
 */
export function whyLeftOut(
    container: Discovered,
    { target, includeNotReady, deletesPods }: Eligibility,
): string | undefined {
    if (container.spared !== undefined) return container.spared;
    if (!container.ready && !includeNotReady) return notReady;
    return deletesPods ? whyNotKillable(container, target) : undefined;
}

/** Why a kill leaves out the pod of a container that matches its target. Undefined if it may delete it. */
export function whyNotKillable({ bare, attributes }: Discovered, target: AttributeExpression): string | undefined {
    if (bare) return withoutController;
    return "k8s.job" in attributes && !namesJob(target) ? ofJob : undefined;
}

export const [notReady, withoutController, ofJob] = ["not ready", "without a controller", "of a Job"] as const;

const namesJob = (target: AttributeExpression) =>
    parseAttributes(target).some(({ key, negated }) => key === "k8s.job" && !negated);

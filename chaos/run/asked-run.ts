import { resolve } from "node:path";
import type { Cluster } from "../cluster/client";
import type { Plan } from "../definition/plan";
import { parseJson } from "../values/json";
import { namespaceUid } from "./same-cluster";

/** The type of the component `Experiment`. */
export const experimentType = "chaos-experiments:index:Experiment";

/**
 * What `chaos repeat` asks of the programs of its updates, whose settings it does not know: one experiment, by its
 * name. It does so by a variable of the environment, which the engine passes on, so the stack's settings stay as they
 * are and count again in the next `pulumi up`. Steps do not read it, and commands of checks do not get it.
 */
export interface AskedRun {
    /** The component's name. */
    experiment: string;
    enabled: boolean;
    run: string;
}

export const askedVariable = "EXPERIMENT_ASKED_RUN";

/** What is asked of an experiment. Undefined if nothing is: then its arguments count. */
export function askedOf(experiment: string, text = process.env[askedVariable]): AskedRun | undefined {
    const asked = text === undefined ? undefined : (parseJson(text) as Partial<AskedRun> | undefined);
    return asked?.experiment === experiment ? (asked as AskedRun) : undefined;
}

/** What an asked preview shows besides, as an input of the component. */
export interface Asked {
    /** Folder of the reports. */
    reports: string;
    /** The uid of the attacks' namespace. Absent if it cannot be read, or its cluster is not known yet. */
    namespaceUid?: string;
}

export async function askedOfPreview(plan: Plan, reach: () => Cluster | undefined): Promise<Asked> {
    const read = async () => {
        const cluster = reach();
        return cluster && namespaceUid(cluster, plan);
    };
    return { reports: resolve(plan.reports), namespaceUid: await read().catch(() => undefined) };
}

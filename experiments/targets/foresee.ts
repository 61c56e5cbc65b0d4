import * as pulumi from "@pulumi/pulumi";
import { select, type Target } from "../../shared/containers";
import type { Cluster } from "../../shared/kubernetes";
import { containersWithin } from "../../shared/radius";
import type { Plan, PlannedAttack } from "../plan";
import { discover } from "./discover";

const mostNamed = 10;

/** Tells in a preview whom an experiment would hit today. The choice itself is made anew when the attacks begin. */
export async function foreseeTargets(
    { area, clusterName, shopNamespace, attacks, experiment }: Plan,
    cluster: Cluster,
): Promise<void> {
    try {
        const discovered = await discover(cluster, area, clusterName, shopNamespace);
        for (const attack of attacks)
            await pulumi.log.info(`${experiment} would hit ${whom(select(discovered, attack.target), attack)}`);
    } catch (error) {
        await pulumi.log.warn(`whom ${experiment} would hit cannot be told: ${(error as Error).message}`);
    }
}

function whom(matching: readonly Target[], { target, radius }: PlannedAttack): string {
    const number = containersWithin(radius, matching.length);
    const named = matching.slice(0, mostNamed).map(({ pod, container }) => `${pod}/${container}`);
    const more = matching.length > mostNamed ? ` and ${matching.length - mostNamed} more` : "";
    const today = matching.length === 0 ? "none" : `${named.join(", ")}${more}`;
    return `${number} container${number === 1 ? "" : "s"} of ${matching.length} that match ${target}, chosen when the attack begins; those that run today: ${today}`;
}

import * as pulumi from "@pulumi/pulumi";
import { select } from "../../shared/containers";
import type { Cluster } from "../../shared/kubernetes";
import { containersWithin } from "../../shared/radius";
import type { Plan } from "../plan";
import { discover } from "./discover";

const mostNamed = 10;

/** Tells in a preview whom an experiment would hit today. The choice itself is made anew when the attack begins. */
export async function foreseeTargets({ area, clusterName, shopNamespace, target, radius, experiment }: Plan, cluster: Cluster): Promise<void> {
    try {
        const matching = select(await discover(cluster, area, clusterName, shopNamespace), target);
        const number = containersWithin(radius, matching.length);
        const named = matching.slice(0, mostNamed).map(({ pod, container }) => `${pod}/${container}`);
        const more = matching.length > mostNamed ? ` and ${matching.length - mostNamed} more` : "";
        const whom = matching.length === 0 ? "none" : `${named.join(", ")}${more}`;
        await pulumi.log.info(
            `${experiment} would hit ${number} container${number === 1 ? "" : "s"} of ${matching.length} that match ${target}, ` +
                `chosen when the attack begins; those that run today: ${whom}`,
        );
    } catch (error) {
        await pulumi.log.warn(`whom ${experiment} would hit cannot be told: ${(error as Error).message}`);
    }
}

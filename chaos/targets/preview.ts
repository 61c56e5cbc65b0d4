import * as pulumi from "@pulumi/pulumi";
import type { Cluster } from "../cluster/client";
import type { TargetRequest } from "./choose";
import { select, type Target } from "./containers";
import { discover, type DiscoveryScope } from "./discover";
import { containersWithin } from "./radius";
import { refuseWebhookServers } from "./webhooks";

const maxNamed = 10;

interface PreviewedPlan extends DiscoveryScope {
    experiment: string;
    /** The one namespace of all targets. */
    namespace: string;
    attacks: readonly TargetRequest[];
}

/** Logs in a preview which containers an experiment would hit today. The attack itself chooses again. */
export async function previewTargets(plan: PreviewedPlan, cluster: Cluster): Promise<void> {
    const { attacks, experiment } = plan;
    try {
        const discovered = await discover(cluster, plan);
        for (const attack of attacks) {
            await pulumi.log.info(`${experiment} would hit ${describe(select(discovered, attack.target), attack)}`);
        }
        await refuseWebhookServers(cluster, plan, discovered).catch((error: Error) =>
            pulumi.log.warn(`${experiment} would not begin: ${error.message}`),
        );
    } catch (error) {
        await pulumi.log.warn(`the targets of ${experiment} cannot be previewed: ${(error as Error).message}`);
    }
}

function describe(matching: readonly Target[], { target, radius }: TargetRequest): string {
    const number = containersWithin(radius, matching.length);
    const named = matching.slice(0, maxNamed).map(({ pod, container }) => `${pod}/${container}`);
    const more = matching.length > maxNamed ? ` and ${matching.length - maxNamed} more` : "";
    const running = matching.length === 0 ? "none" : `${named.join(", ")}${more}`;
    return (
        `${number} container${number === 1 ? "" : "s"} of ${matching.length} that match ${target}, chosen when the ` +
        `attack begins; running now: ${running}`
    );
}

import * as pulumi from "@pulumi/pulumi";
import type { Cluster } from "../cluster/client";
import { problemOf } from "../cluster/problem";
import type { Written } from "../remedy";
import { chooseForAll, type TargetRequest } from "./choose";
import { type Discovered, isEligible, select } from "./containers";
import { discover, type DiscoveryScope } from "./discover";
import { containersWithin } from "./radius";
import { refuseWebhookServers } from "./webhooks";

const maxNamed = 10;

interface PreviewedPlan extends DiscoveryScope, Written {
    experiment: string;
    /** The one namespace of all targets. */
    namespace: string;
    attacks: readonly TargetRequest[];
}

/** Logs in a preview which containers an experiment would hit today. The attack itself chooses again. */
export async function previewTargets(plan: PreviewedPlan, reach: () => Cluster): Promise<void> {
    const { attacks, experiment } = plan;
    try {
        const cluster = reach();
        const discovered = await discover(cluster, plan);
        for (const attack of attacks) {
            await pulumi.log.info(`${experiment} would hit ${describe(select(discovered, attack.target), attack)}`);
        }
        const notChosen = whyNotChosen(discovered, plan);
        if (notChosen !== undefined) await pulumi.log.warn(`${experiment} would not begin now: ${notChosen}`);
        await refuseWebhookServers(cluster, plan, discovered).catch((error: unknown) =>
            pulumi.log.warn(`${experiment} would not begin: ${problemOf(error)}`),
        );
    } catch (error) {
        await pulumi.log.warn(`the targets of ${experiment} cannot be previewed: ${problemOf(error)}`);
    }
}

/** What may change until the attack begins: this update may make what it attacks. */
function whyNotChosen(discovered: readonly Discovered[], plan: PreviewedPlan): string | undefined {
    try {
        chooseForAll(discovered, plan);
        return undefined;
    } catch (error) {
        return problemOf(error);
    }
}

function describe(matching: readonly Discovered[], request: TargetRequest): string {
    const { target, radius } = request;
    const eligible = matching.filter((container) => isEligible(container, request)).length;
    const number = containersWithin(radius, eligible);
    const named = matching
        .slice(0, maxNamed)
        .map(({ pod, container, ready }) => `${pod}/${container}${ready === false ? " (not ready)" : ""}`);
    const more = matching.length > maxNamed ? ` and ${matching.length - maxNamed} more` : "";
    const running = matching.length === 0 ? "none" : `${named.join(", ")}${more}`;
    const condition = eligible === matching.length ? "match" : "are ready and match";
    return (
        `${number} container${number === 1 ? "" : "s"} of ${eligible} that ${condition} ${target}, chosen when the ` +
        `attack begins; running now: ${running}`
    );
}

import * as pulumi from "@pulumi/pulumi";
import type { Cluster } from "../cluster/client";
import { problemOf } from "../cluster/problem";
import type { Written } from "../texts";
import { describeBesides } from "./pods";
import { chooseForAll, type TargetRequest } from "./choose";
import { type Discovered, select } from "./containers";
import { discover, type DiscoveryScope } from "./discover";
import { whyLeftOut } from "./eligible";
import { behindServices } from "./proxied";
import { containersWithin } from "./radius";
import { refuseWebhookServers } from "./webhooks";

const maxNamed = 10;

interface PreviewedPlan extends DiscoveryScope, Written {
    experiment: string;
    namespace: string;
    attacks: readonly TargetRequest[];
}

/** Logs in a preview which containers an experiment would hit today. The attack itself chooses again. */
export async function previewTargets(
    plan: PreviewedPlan,
    reach: () => Cluster,
    besides: readonly string[],
): Promise<void> {
    const { experiment } = plan;
    try {
        const cluster = reach();
        const [discovered, behind] = await Promise.all([
            discover(cluster, plan),
            behindServices(cluster, plan).catch((error: unknown) => problemOf(error)),
        ]);
        if (typeof behind === "string") return await pulumi.log.warn(`${experiment} would not begin now: ${behind}`);
        const { attacks } = behind;
        const hits = attacks.map((attack) => `${experiment} would hit ${describe(discovered, attack)}`);
        await pulumi.log.info([...hits, ...besides].join("\n"));
        try {
            chooseForAll(discovered, { ...plan, attacks });
        } catch (error) {
            // It may change until the attack begins: this update may make what it attacks.
            await pulumi.log.warn(`${experiment} would not begin now: ${problemOf(error)}`);
        }
        await refuseWebhookServers(cluster, plan, discovered).catch((error: unknown) =>
            pulumi.log.warn(`${experiment} would not begin: ${problemOf(error)}`),
        );
    } catch (error) {
        await pulumi.log.warn(`the targets of ${experiment} cannot be previewed: ${problemOf(error)}`);
    }
}

function describe(discovered: readonly Discovered[], request: TargetRequest): string {
    const { target, radius, outward } = request;
    const matching = select(discovered, target).map((container) => ({
        container,
        leftOut: whyLeftOut(container, request),
    }));
    const reasons = matching.flatMap(({ leftOut }) => leftOut ?? []);
    const eligible = matching.length - reasons.length;
    const number = containersWithin(radius, eligible);
    const named = matching.slice(0, maxNamed).map(({ container: { pod, container, ready }, leftOut }) => {
        const note = ready ? leftOut : "not ready";
        return `${pod}/${container}${note ? ` (${note})` : ""}`;
    });
    const more = matching.length > maxNamed ? ` and ${matching.length - maxNamed} more` : "";
    const running = matching.length === 0 ? "none" : `${named.join(", ")}${more}`;
    const areEligible = reasons.every((reason) => reason === "not ready")
        ? "are ready and match"
        : "may be chosen and match";
    const condition = reasons.length === 0 ? "match" : areEligible;
    const others = describeBesides(
        discovered,
        matching.map(({ container }) => container),
    );
    const unproven = outward === "unproven" ? ". Where no container of a pod has a tool, outward is not proven" : "";
    return (
        `${number} container${number === 1 ? "" : "s"} of ${eligible} that ${condition} ${target}, chosen when the ` +
        `attack begins; running now: ${running}${others}${unproven}`
    );
}

import * as pulumi from "@pulumi/pulumi";
import { requestsOf } from "./attacks/registry";
import type { Cluster } from "./cluster/client";
import { problemOf } from "./cluster/problem";
import type { Plan } from "./definition/plan";
import { chooseForAll, type TargetRequest } from "./targets/choose";
import { type Discovered, select } from "./targets/containers";
import { discover } from "./targets/discover";
import { whyLeftOut } from "./targets/eligible";
import { describeBesides } from "./targets/pods";
import { containersWithin } from "./targets/radius";
import { refuseWebhookServers } from "./targets/webhooks";

const maxNamed = 10;

/** Logs in a preview which containers an experiment would hit today. The attack itself chooses again. */
export async function previewTargets(plan: Plan, reach: () => Cluster, besides: readonly string[]): Promise<void> {
    const { experiment } = plan;
    try {
        const cluster = reach();
        const [discovered, attacks] = await Promise.all([
            discover(cluster, plan),
            requestsOf(cluster, plan).catch((error: unknown) => problemOf(error)),
        ]);
        if (typeof attacks === "string") {
            await pulumi.log.warn(`${experiment} would not begin now: ${attacks}`);
            return await pulumi.log.info([wouldAttack(plan), ...besides].join("\n"));
        }
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
        await pulumi.log.info([wouldAttack(plan), ...besides].join("\n"));
    }
}

/** What an experiment would attack, if the cluster does not say which pods these are. */
export const wouldAttack = ({ experiment, attacks }: Plan): string =>
    `${experiment} would attack ${attacks.map(({ target }) => target).join("; ")}`;

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
    const unproven = outward === "unproven" ? ". Where nothing can be tried in a pod, outward is not proven" : "";
    return (
        `${number} container${number === 1 ? "" : "s"} of ${eligible} that ${condition} ${target}, chosen when the ` +
        `attack begins; running now: ${running}${others}${unproven}`
    );
}

import * as pulumi from "@pulumi/pulumi";
import { actionKindOf } from "../kinds/actions/registry";
import { type Attack, describeOthers, requestsOf } from "../kinds/attacks/registry";
import { namesOf } from "../kinds/checks/observe";
import { type Cluster, connect } from "../cluster/client";
import { problemOf } from "../cluster/problem";
import { isAttack, type Plan } from "../definition/plan";
import { verdictLine } from "../values/reasons";
import type { runResources } from "./run-resources";
import { ifKnown } from "./stash";
import type { LabeledTargets } from "../run/contract";
import { describeBegin } from "../run/until-begin";
import { chooseTargets, type TargetRequest } from "../targets/choose";
import { type Discovered, select } from "../targets/containers";
import { discover, discoverSpared } from "../targets/discover";
import { notReady, whyLeftOut } from "../targets/eligible";
import { describeMilliseconds } from "../values/duration";
import { few, maxNamed } from "../values/quoted";
import { containersWithin } from "../targets/radius";
import { refuseWebhookServers } from "../targets/webhooks";

/** Says in a preview whom the experiment would hit, and what it would do and check; or that it has run or begun. */
export async function preview(
    plan: Plan,
    kubeconfig: pulumi.Input<string> | undefined,
    { conclusion, targets }: ReturnType<typeof runResources>,
): Promise<void> {
    const { experiment, context, actions } = plan;
    // A preview knows the result of a check only if it would not run it.
    const [concluded] = await ifKnown(conclusion);
    if (concluded !== undefined)
        return pulumi.log.info(`${experiment} has run, and would not run again. ${verdictLine(concluded)}`);
    if (!isAttack(plan)) return pulumi.log.info(describeWithoutAttack(plan));
    const [begun] = await ifKnown(targets);
    if (begun !== undefined) return pulumi.log.info(describeBegun(plan, begun));
    const besides = [
        ...(plan.begin ? [`It would wait until ${describeBegin(plan.begin)}`] : []),
        ...(actions.length > 0 ? [`Meanwhile it would ${doneBy(plan)}`] : []),
        ...(plan.baseline ? [`Before that it would ${measured(plan)}`] : []),
        `It would check ${namesOf(plan)}`,
    ];
    const known = await ifKnown(pulumi.output(kubeconfig));
    if (known.length > 0) return previewTargets(plan, () => connect({ kubeconfig: known[0], context }), besides);
    const would = `${wouldAttack(plan)}; the kubeconfig is not known yet, so no pod is named here`;
    return pulumi.log.info([would, ...besides].join("\n"));
}

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
        const areOffered = attacks.every(({ target }) => select(discovered, target).length > 0);
        const spared = areOffered ? [] : await discoverSpared(cluster, plan);
        const hits = plan.attacks.map(({ attack, outward }, index) => {
            const unproven = outward && ". Where nothing can be tried in a pod, outward is not proven";
            const hit = describe(discovered, spared, { ...attacks[index]!, attack });
            return `${experiment} would hit ${hit}${unproven ?? ""}`;
        });
        await pulumi.log.info([...hits, ...besides].join("\n"));
        try {
            await chooseTargets(cluster, plan, discovered, attacks);
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
const wouldAttack = ({ experiment, attacks }: Plan): string =>
    `${experiment} would attack ${attacks.map(({ target }) => target).join("; ")}`;

/** @param spared named only if nothing else matches */
function describe(
    discovered: readonly Discovered[],
    spared: readonly Discovered[],
    request: TargetRequest & { attack: Attack },
): string {
    const { target, radius } = request;
    const offered = select(discovered, target);
    const matching = (offered.length > 0 ? offered : select(spared, target)).map((container) => ({
        container,
        leftOut: whyLeftOut(container, request),
    }));
    const reasons = matching.flatMap(({ leftOut }) => leftOut ?? []);
    const eligible = matching.length - reasons.length;
    const number = containersWithin(radius, eligible);
    const named = matching.map(({ container: { pod, container, ready }, leftOut }) => {
        const note = leftOut ?? (ready ? undefined : notReady);
        return `${pod}/${container}${note ? ` (${note})` : ""}`;
    });
    const running = matching.length === 0 ? "none" : few(named, maxNamed);
    const areEligible = reasons.every((reason) => reason === notReady)
        ? "are ready and match"
        : "may be chosen and match";
    const condition = reasons.length === 0 ? "match" : areEligible;
    const containers = matching.map(({ container }) => container);
    const others = describeOthers(request.attack, discovered, containers);
    return (
        `${number} container${number === 1 ? "" : "s"} of ${eligible} that ${condition} ${target}, chosen when the ` +
        `attack begins; running now: ${running}${others}`
    );
}

/** An update was killed, or its verdict has failed it. The next goes on with the targets that were chosen. */
function describeBegun({ experiment }: Plan, { attacks }: LabeledTargets): string {
    const pods = attacks.flatMap(({ targets }) => targets.map(({ pod }) => pod)).join(", ");
    return (
        `${experiment} has begun on ${pods}, and has no verdict: the update would go on with it, or give the verdict ` +
        "INCONCLUSIVE if the attack is over"
    );
}

/** What is done before the attack, in words. */
function measured({ checks, baseline }: Plan): string {
    const names = namesOf({ checks: checks.filter(({ limits }) => limits) });
    return `measure ${names} for ${describeMilliseconds(baseline!.durationMs)}, to compare`;
}

const doneBy = ({ actions }: Plan) => actions.map((action) => actionKindOf(action).describe(action)).join(", ");

function describeWithoutAttack(plan: Plan): string {
    const { experiment, namespace, checks } = plan;
    const done = doneBy(plan);
    const waits = plan.begin ? `${experiment} would wait until ${describeBegin(plan.begin)}. ` : "";
    const nothing = `${waits}${experiment} would attack nothing`;
    const before = plan.baseline ? `first ${measured(plan)}, then ` : "";
    if (done === "") return `${nothing}, and only ${before}check ${namesOf({ checks })}`;
    return `${nothing}; in namespace ${namespace} it would ${before}${done}, while it checks ${namesOf({ checks })}`;
}

import { randomBytes } from "node:crypto";
import type { V1NetworkPolicy } from "../values/kubernetes-types";
import { attacksOf, isAttack, type Plan, type RunAttack } from "../definition/plan";
import { describeRadius } from "../targets/radius";
import { acquireLease, moveOwn } from "../lease/lease";
import { leaseMoves } from "../lease/lease-record";
import { AttackProofs } from "../proof/attack-proofs";
import { describeHosts, resolveHosts } from "../proof/hosts";
import { JobPod, startTimeoutMs } from "../proof/job-pod";
import { knownPolicies } from "../policies/known";
import { labelPods } from "../targets/pods";
import { attributeOf, nodeConditions } from "../targets/attributes";
import { type Chosen, chooseTargets } from "../targets/choose";
import { labelOfPeers } from "../targets/distinguish";
import type { Cluster } from "../cluster/client";
import { type Discovered, type Target, workloadsOf } from "../targets/containers";
import { discover, expressionsOf } from "../targets/discover";
import { servicePorts } from "../targets/service-ports";
import { namesOfNodes, type Nodes, nodesFor } from "../targets/nodes";
import { annotations, labels, targetLabels } from "../cluster/labels";
import { endAttacks } from "../ending/end";
import { attacksLeftOf } from "../ending/left";
import {
    admitAttacks,
    admitJob,
    admitWitness,
    combinationsOf,
    combinedNumber,
    createCombined,
    exemptFrom,
    otherPolicies,
} from "./other-policies";
import { type Given, type LabeledTargets, nothingAttacked, printed, type Step, type StepContext } from "./contract";
import { abortingRun, sayNotUndone } from "./aborting-run";
import { describeLeftOut } from "../proof/outcome";
import { equip } from "./equip";
import { ReasonError } from "../values/reasons";
import { abortIfRejected } from "./rejected-change";
import { refuseIfHeld } from "./steady-state";
import { refuseConflicts, refuseTogether } from "../kinds/attacks/conflicts";
import { attackKindOf, describeOthers, requestsOf } from "../kinds/attacks/registry";
import { refuseWebhookServers } from "../targets/webhooks";
import { requireJob } from "./require-job";
import { requireRoom } from "./room";
import { sweep } from "./sweep";

/**
 * Chooses the targets and labels their pods: the attacks select the labels. Then waits until the deadline Job has
 * looked at them, since an attack must not begin that nothing could end or witness.
 */
export const labelTargets: Step<"label-targets"> = (context, given) =>
    abortingRun(context, () => label(context, given), {
        // The sweep removes the Job, too. After any other error, another try needs the Job and the lease.
        hasBegun: true,
        seen: { waitedMs: given.steadyState.waitedMs },
        undo: async (error) => error instanceof ReasonError && sweep(context, error.reason),
    });

async function label(
    context: StepContext,
    { room, deadlineJob, steadyState }: Given<"label-targets">,
): Promise<LabeledTargets> {
    const { plan, cluster, stack, say } = context;
    const { runName, pass } = steadyState;
    // An update that slept since the steady state may have lost the lease, or somebody may have deleted it to stop it.
    // An earlier try of this step that was ABORTED has noted that in it.
    await acquireLease(cluster, { stack, plan }, runName).catch(refuseIfHeld(context));
    const asked = nodesFor(cluster, expressionsOf(plan));
    const [nodes, discovered] = await Promise.all([
        asked,
        isAttack(plan) ? discover(cluster, plan, asked) : [],
        requireJob(context, deadlineJob),
    ]);
    // The Job is admitted at once, because its pod is starting and may need that.
    const run = await admitJob({ cluster, plan, runName, pass }, deadlineJob);
    if (!isAttack(plan)) {
        // No action may begin that the Job could not undo.
        await new JobPod(cluster, plan.namespace, deadlineJob).awaitStart(startTimeoutMs);
        return nothingAttacked.targets;
    }
    const chosen = await chooseTargets(cluster, plan, discovered, await requestsOf(cluster, plan));
    const undeclared = await addServicePorts(context, chosen);
    for (const one of chosen) {
        one.peersLabel = one.peers && (await labelOfPeers(cluster, one.peers, discovered));
        one.workloads = ownersOf(one.targets, discovered);
        one.peerWorkloads = ownersOf(one.peers, discovered);
    }
    requireWithin(plan, chosen);
    const found = attacksOf(plan, runName, chosen);
    refuseConflicts(found);
    // A new value for each try: `end` removes the labels of an earlier one, which a network may notice late.
    const chosenBy = randomBytes(8).toString("hex");
    for (const one of found) Object.assign(one.chosen, { chosenBy }, toldToJob(one, nodes));
    await refuseWebhookServers(cluster, plan, discovered);
    const end = () => endAttacks(cluster, attacksLeftOf(plan));
    // A killed update may have labeled others: together with these they could exceed the radius.
    await end();
    const [policies] = await Promise.all([
        otherPolicies(cluster, plan.namespace, runName),
        // Once more: the Job's pod is there, and takes its part of a quota.
        room && requireRoom(context, room.attacks),
    ]);
    const isPoliced = policies.length > 0;
    const attacks = await withHosts(context, found, discovered);
    await Promise.all(attacks.map(async (one) => tryOut(one, cluster)));
    refuseTogether(attacks);
    const combinations = await combinationsOf(run, attacks, policies);
    try {
        const own = [
            ...(attacks.some(meetsWitness) ? await admitWitness(run, policies, chosenBy) : []),
            ...(await createCombined(run, attacks, combinations)),
            ...(await admitAttacks(run, attacks, policies)),
        ];
        for (const one of attacks) {
            const numbered = (uid: string) => combinedNumber(combinations.get(one.name), uid);
            const metadata = (uid: string) => metadataOf(one, numbered(uid), undeclared.get(uid));
            await labelPods(cluster, one.chosen.targets, metadata).catch(
                abortIfRejected(
                    "attack-refused",
                    `the targets of ${one.name} may not be labeled`,
                    "Allow the change of their labels, or choose other targets",
                ),
            );
            say(describe(plan, one) + describeOthers(one.attack, discovered, one.chosen.targets));
        }
        const equipped = await equip(context, attacks, discovered);
        const proofs = new AttackProofs({ cluster, plan, job: deadlineJob, attacks: equipped, isPoliced });
        const { tookMs, attacks: provable } = await proofs.baseline();
        for (const one of provable) if (one.chosen.leftOut) say(describeLeftOut(one.chosen.leftOut));
        const toExempt = [...new Set([...combinations.values()].flatMap((one) => one.toExempt))];
        if (toExempt.length > 0) say(describeExempt(toExempt));
        await exemptFrom(cluster, toExempt, runName, chosenBy);
        const result = {
            attacks: provable.map((one) => one.chosen),
            baselineMs: tookMs,
            ...(isPoliced && { isPoliced }),
            policies: knownPolicies(policies),
            workloads: lastingWorkloads(discovered.filter(({ namespace }) => namespace === plan.namespace)),
            ...(own.length > 0 && { ownPolicies: own }),
        };
        // Refuses what the check could not be given, while the labels can still be removed.
        printed(result);
        // Last: the attacks begin when Pulumi makes their objects.
        await new JobPod(cluster, plan.namespace, deadlineJob).requireRunning(plan);
        await moveOwn(cluster, context, () => leaseMoves.begun);
        return result;
    } catch (error) {
        // An ABORTED run is ended as a whole.
        if (!(error instanceof ReasonError)) await end().catch(sayNotUndone(context));
        throw error;
    }
}

/** The attacks, with the addresses of the hosts that they name. @throws ReasonError as `resolveHosts` does */
function withHosts(context: StepContext, attacks: readonly RunAttack[], discovered: readonly Discovered[]) {
    const resolving = attacks.map(async (one) => {
        if (!attackKindOf(one.attack).proof(one.attack).addresses) return one;
        const [equipped] = await equip(context, [one], discovered);
        const found = await resolveHosts(context.cluster, equipped!, discovered);
        const { hosts = [], control } = found.chosen;
        const named = describeHosts(hosts);
        if (named !== "") context.say(named);
        if (!control) context.say("No address outside of the cluster's pods is part of the positive control");
        return found;
    });
    return Promise.all(resolving);
}

async function tryOut(one: RunAttack, cluster: Cluster): Promise<void> {
    const tried = await attackKindOf(one.attack).tryOut?.(one, cluster);
    if (tried !== undefined) one.chosen.tried = tried;
}

/** Whether the witness connects to an attack's targets, or they to it. */
const meetsWitness = ({ attack }: RunAttack): boolean => {
    const kind = attackKindOf(attack);
    return kind.denies !== undefined || kind.proof(attack).stopped === true;
};

/** What the Job must know, if it will choose further targets. */
function toldToJob({ attack, target, chosen: { matching } }: RunAttack, nodes?: Nodes): Partial<Chosen> {
    if (!attackKindOf(attack).proof(attack).deleted) return {};
    const isOnNodes = nodes && nodeConditions(target).length > 0;
    return { atFirst: matching, ...(isOnNodes && { nodes: namesOfNodes(nodes, target) }) };
}

/** Undefined if none is known: a report then says what the attack names. */
function ownersOf(some: readonly Target[] = [], discovered: readonly Discovered[]): string[] | undefined {
    const uids = new Set(some.map(({ uid }) => uid));
    const owners = workloadsOf(discovered.filter(({ uid }) => uids.has(uid)));
    return owners.length === 0 ? undefined : owners;
}

/** A Job ends, and a CronJob's next one has another name: a report would list each as never tried. */
const lastingWorkloads = (discovered: readonly Discovered[]) =>
    workloadsOf(discovered.filter(({ attributes }) => !(attributeOf("Job") in attributes)));

/** Adds the ports that Services lead to. @returns those that a target's pod does not declare, by its uid */
async function addServicePorts({ plan, cluster }: StepContext, chosen: readonly Chosen[]) {
    const all = chosen.flatMap(({ targets, peers = [] }) => [...targets, ...peers]);
    const found = await servicePorts(cluster, plan.namespace, all);
    const undeclared = new Map<string, number[]>();
    for (const one of all) {
        const added = (found.get(one.uid) ?? []).filter((port) => !one.ports.includes(port));
        if (added.length === 0) continue;
        one.ports = [...one.ports, ...added];
        undeclared.set(one.uid, added);
    }
    return undeclared;
}

function metadataOf(
    { attack, label, chosen: { chosenBy } }: RunAttack,
    number: string | undefined,
    ports: readonly number[] = [],
) {
    const { effect } = attackKindOf(attack);
    return {
        labels: {
            ...targetLabels(label, chosenBy!),
            ...(number !== undefined && { [labels.combined]: number }),
        },
        annotations: {
            // By this note, the Job knows that an attack had begun. It stays if somebody removes the pod's labels.
            [annotations.begun]: null,
            ...(effect !== undefined && { [annotations.effect]: effect }),
            ...(ports.length > 0 && { [annotations.ports]: ports.join() }),
        },
    };
}

function describeExempt(policies: readonly V1NetworkPolicy[]): string {
    const names = policies.map(({ metadata }) => metadata!.name).join(", ");
    return (
        `NetworkPolicies that would allow what the attack denies stop selecting its targets until it is undone: ` +
        names
    );
}

/**
 * Attributes and place of a container come in one answer, which may contradict itself.
 *
 * @throws ReasonError if a target is outside of the plan's namespace, which alone has the lease and whose labels are
 *   removed
 */
function requireWithin({ namespace }: Plan, chosen: readonly Chosen[]): void {
    const outside = chosen.flatMap(({ targets }) => targets).find((target) => target.namespace !== namespace);
    if (outside === undefined) return;
    throw new ReasonError(
        "attack-refused",
        `the chosen pod ${outside.pod} is in namespace ${outside.namespace}, and the experiment may only attack ` +
            `namespace ${namespace}`,
        "What the agent says contradicts itself",
    );
}

function describe({ attacks }: Plan, { name, radius, chosen: { targets, matching } }: RunAttack): string {
    const of = attacks.length === 1 ? "" : ` of ${name}`;
    const containers = targets.map(({ pod, container }) => `${pod}/${container}`).join(", ");
    return `Targets${of}: ${containers} (${describeRadius(radius)} of ${matching} matching)`;
}

import { randomBytes } from "node:crypto";
import { kubectl } from "../values/kubectl";
import { changeObjects, type PodsChanging, requireObjects } from "../kinds/actions/perform";
import { Endpoints } from "../kinds/checks/endpoints";
import { answersToHold, keptOf, namesOf, type Observed, problemsOf, untilAllHold } from "../kinds/checks/observe";
import { chooseRoute } from "../kinds/checks/route";
import { describeRoute } from "../kinds/checks/service";
import type { Cluster } from "../cluster/client";
import { isAccompanied, isAttack, type Plan, runNameOf } from "../definition/plan";
import { endAttacks } from "../ending/end";
import { leftOf } from "../ending/left";
import { acquireLease, LeaseHeldError, releaseLease } from "../lease/lease";
import { stopCommand } from "../lease/lease-record";
import { ReasonError } from "../values/reasons";
import { disabling, tryingAgain } from "../values/texts";
import { requireReportsFolder } from "../report/report";
import { merged, permissionsOf } from "../rights/permissions";
import { describeRight, areAllowed, missingRights } from "../rights/review";
import { rightToMakeEvents } from "../rights/table";
import { attributeOf } from "../targets/attributes";
import { type Chosen, chooseTargets, type TargetRequest } from "../targets/choose";
import { type Discovered, isSystemNamespace, ownerOf, select } from "../targets/containers";
import { discover, protectedNamespaces } from "../targets/discover";
import { requestsOf } from "../kinds/attacks/registry";
import { onePerPod } from "../targets/pods";
import { awaitRollouts } from "../targets/rollouts";
import { refuseWebhookServers } from "../targets/webhooks";
import type { JobBasis } from "../witness/protocol";
import { measureBaseline } from "./baseline";
import { abortingRun, type Seen } from "./aborting-run";
import { equippedBesides } from "./beside-pods";
import type { Room, SteadyState, Step, StepContext } from "./contract";
import { untilBegin } from "./until-begin";
import { jobObjects, replacesAtOnce, requireRoom } from "./room";
import { namespaceUid } from "./same-cluster";
import { refuseSelectedPods } from "./selected-pods";

/** How long checks may take to succeed before an attack, and the pause between two probes, in milliseconds. */
export const steadiness = { timeoutMs: 10_000, pauseMs: 20 };
/** A rollout of a few pods with a delay before they stop; less than what a lease lasts without being renewed. */
const rolloutMs = 30_000;

/**
 * Checks that the account has all rights that the run needs, waits for what begins it, takes the lease, wants three
 * good answers in a row to every check within ten seconds, and room for what the run makes. Then it measures the checks
 * that are compared with before the attack. If anything is missing, the experiment is aborted and nothing was touched.
 */
export const steadyState: Step<"steady-state"> = async (context, { room }) => {
    const { plan, cluster, stack } = context;
    requireReportsFolder(plan.reports);
    const seen: Seen = {};
    let hasLease = false;
    const prepare = async () => {
        await requireRights(context);
        // Before the lease: meanwhile others may use the namespace, and what ends the wait leaves nothing.
        seen.waitedMs = await untilBegin(context);
        await acquireLease(cluster, { stack, plan }).catch(refuseIfHeld(context));
        hasLease = true;
        context.say(`To stop this experiment at any time: ${stopCommand(placeOf(context))}`);
        return findSteadyState(context, room, seen);
    };
    const undo = async () => hasLease && releaseLease(cluster, { stack, plan });
    return abortingRun(context, prepare, { undo, seen });
};

/** @param seen gets what the checks have seen */
async function findSteadyState(context: StepContext, room: Room | undefined, seen: Seen): Promise<SteadyState> {
    const { plan, cluster, stack, say } = context;
    const { namespace, service } = plan;
    const [swept, route, discovered, changing] = await Promise.all([
        endAttacks(cluster, leftOf(plan), say),
        service && chooseRoute(cluster, service),
        isAttack(plan) ? discover(cluster, plan) : [],
        requireObjects(cluster, namespace, plan.actions),
        requireOpenNamespace(plan, cluster),
        room && refuseSelectedPods(context, room),
    ]);
    if (swept > 0) say(`Removed what an earlier run left behind: ${swept} ${swept === 1 ? "object" : "objects"}`);
    say(`Checking ${namesOf(plan)}${route ? ` at ${describeRoute(route)}` : ""}`);
    const endpoints = new Endpoints(cluster, plan.defaultNamespace, { route });
    const { timeoutMs, pauseMs } = steadiness;
    const { checks, failing } = await untilAllHold(plan, { ...plan, cluster, endpoints }, timeoutMs, pauseMs);
    seen.checks = checks;
    const { routes } = endpoints;
    for (const [service, found] of Object.entries(routes)) say(`Asking ${service} at ${describeRoute(found)}`);
    if (failing.length > 0) {
        const message = `there is no steady state: ${problemsOf(failing)}`;
        throw new ReasonError("no-steady-state", message, adviceFor(plan, failing));
    }
    const last = checks.flatMap(({ answers }) => answers.slice(-answersToHold));
    const latencyMs = Math.max(...last.map((answer) => answer.latencyMs));
    const each = checks.length > 1 ? " to each check" : "";
    say(`Steady: ${answersToHold} good answers in a row${each}, the slowest in ${latencyMs} ms`);
    const runName = runNameOf(plan, stack);
    const pass = randomBytes(8).toString("hex");
    const [uid, mayMakeEvents, isReplacedAtOnce] = await Promise.all([
        namespaceUid(cluster, plan),
        isAttack(plan) && areAllowed(cluster, rightToMakeEvents(namespace)).catch(() => false),
        room && replacesAtOnce(context, room),
        isAttack(plan) && requireTargets(context, discovered, changing),
        room && requireRoomFor(context, room, { runName, pass }),
    ]);
    // It comes last, when nothing else is left that could end the run before the attack, which then follows soon. What
    // goes on beside the run begins later, and it is measured under that.
    const known = { route, routes, pass };
    const baseline = isAccompanied(plan) ? undefined : await measureBaseline(context, known);
    return {
        ...(route && { route }),
        ...(Object.keys(routes).length > 0 && { routes }),
        runName,
        pass,
        ...(mayMakeEvents && { mayMakeEvents }),
        ...(uid !== undefined && { namespaceUid: uid }),
        ...(isReplacedAtOnce && { replacesAtOnce: true }),
        ...(seen.waitedMs !== undefined && { waitedMs: seen.waitedMs }),
        latencyMs,
        checks: keptOf(checks),
        ...(baseline && { baseline }),
    };
}

/** @throws ReasonError if the namespace does not admit what the run makes, or a load could not be sent */
async function requireRoomFor(context: StepContext, room: Room, basis: JobBasis): Promise<void> {
    const besides = await equippedBesides(context, room, basis);
    const job = jobObjects(room, context.plan, basis.runName, basis.pass);
    await requireRoom(context, [...job, ...besides, ...room.attacks]);
}

/** The targets are chosen later. That there are any must be known before anything is created. */
async function requireTargets(
    context: StepContext,
    discovered: readonly Discovered[],
    changing: readonly PodsChanging[],
): Promise<void> {
    const { plan, cluster, say } = context;
    // Swept before: a killed run may have left a Service with its proxy.
    const attacks = await requestsOf(cluster, plan);
    const matching = attacks.flatMap(({ target }) => select(discovered, target));
    const { waited, going } = await awaitRollouts(cluster, matching, rolloutMs);
    if (waited) say("Waited for the targets' rollout: it would have replaced some of them");
    for (const one of going) say(`The rollout has not ended, and may replace a target during the run: ${one}`);
    // Meanwhile pods may have become ready, or been replaced.
    const isAsFound = !waited && discovered.every(({ ready }) => ready);
    const now = isAsFound ? discovered : await discover(cluster, plan);
    for (const chosen of await chooseTargets(cluster, plan, now, attacks)) {
        const request = attacks.find(({ name }) => name === chosen.name)!;
        if (!request.deletesPods) refuseRemoving(request, now, chosen, changing);
        refuseJoining(request, now, chosen, changing);
    }
    await refuseWebhookServers(cluster, plan, now);
}

/** @throws ReasonError if an action takes a target from an attack that must last, whichever targets are chosen */
function refuseRemoving(
    { name, target }: TargetRequest,
    discovered: readonly Discovered[],
    { targets }: Chosen,
    changing: readonly PodsChanging[],
): void {
    const owners = new Set(select(discovered, target).map(({ attributes }) => ownerOf(attributes)));
    const pods = onePerPod(targets).length;
    const [owner] = owners;
    const found = changing.find(
        ({ workload: { kind, name: of }, keeps }) => owner === `${attributeOf(kind)}=${of}` && keeps < pods,
    );
    if (found === undefined || owners.size > 1) return;
    const message =
        `the experiment cannot ${found.action}: the attack ${name} has ${pods} ${pods === 1 ? "pod" : "pods"} of ` +
        `${owner} as targets until the checks end, and that leaves ${found.keeps} of them at most`;
    const advice = "Choose targets of another workload, or an attack that deletes pods, such as kill";
    throw new ReasonError("action-refused", message, advice);
}

/** @throws ReasonError if an action changes which pods are the peers of an attack, which is made for those before it */
function refuseJoining(
    { name, peers: expression }: TargetRequest,
    discovered: readonly Discovered[],
    { peers = [] }: Chosen,
    changing: readonly PodsChanging[],
): void {
    const uids = new Set(peers.map(({ uid }) => uid));
    const owners = new Set(discovered.filter(({ uid }) => uids.has(uid)).map(({ attributes }) => ownerOf(attributes)));
    const found = changing.find(
        ({ workload: { kind, name: of }, keeps, adds }) =>
            owners.has(`${attributeOf(kind)}=${of}`) && (adds || (keeps === 0 && owners.size === 1)),
    );
    if (found === undefined) return;
    const message =
        `the experiment cannot ${found.action}: the attack ${name} is made for the peers ${expression} that are ` +
        "there before it, and then others are, or none";
    throw new ReasonError("action-refused", message, "Do that before the experiment, or name other peers");
}

export const refuseIfHeld = (context: StepContext) => (error: unknown) => {
    if (!(error instanceof LeaseHeldError)) throw error;
    throw new ReasonError("namespace-busy", error.message, adviceIfHeld(context, error));
};

/** Where the run is: its plan names no context if that is the kubeconfig's current one. */
const placeOf = ({ cluster, plan: { context, namespace } }: StepContext) => ({
    context: context ?? cluster.kubeconfig.getCurrentContext(),
    namespace,
});

function adviceIfHeld(context: StepContext, { ofThisStack }: LeaseHeldError): string {
    const { plan } = context;
    if (ofThisStack === undefined)
        return (
            "Disable the experiment there first, or wait until its lease ends: two at once would affect more than " +
            `the radius of either allows. If that stack no longer exists: ${stopCommand(placeOf(context))}`
        );
    return (
        // `aliases` would not help: this update has already put the component into the state under its other name.
        `If the program has renamed ${ofThisStack} to ${plan.experiment}: disable it ` +
        `(${disabling(plan)}), which undoes ${ofThisStack}, then enable it again. ` +
        `If the program has both, disable ${ofThisStack} first: two at once would affect more than the radius of ` +
        "either allows."
    );
}

function adviceFor(plan: Plan, failing: readonly Observed[]): string {
    const nothingSeen = failing.every(({ answers }) => answers.findLast(({ good }) => !good)?.unseen);
    const pods = `${kubectl({ context: plan.context, namespace: plan.defaultNamespace })} get pods`;
    const again = tryingAgain(plan);
    if (nothingSeen)
        return `Nothing is known about the application: correct the experiment or what it asks, then: ${again}`;
    // A command disables the experiment itself.
    return plan.command === undefined
        ? `Repair the application first (${disabling(plan)}; \`${pods}\`), then enable the experiment again.`
        : `Repair the application first (\`${pods}\`), then: ${again}`;
}

/** @throws ReasonError with all rights that the account lacks: without them, a run could fail under attack */
async function requireRights({ plan, cluster }: StepContext): Promise<void> {
    const missing = await missingRights(cluster, permissionsOf([plan]));
    if (missing.length === 0) return;
    const those = merged(missing).map(describeRight).join("; ");
    const print = plan.stack
        ? `npm run -s render -- --permissions ${plan.experiment} --stack ${plan.stack}`
        : "`rolesManifest` of the package prints it";
    const advice = `Ask the cluster's administrator for them. All that this experiment needs: ${print}`;
    throw new ReasonError("missing-right", `the account lacks rights that the experiment needs: ${those}`, advice);
}

/**
 * If nothing is attacked, no target can be refused, but the actions must spare the same namespaces.
 *
 * @throws ReasonError if an action would change something in a namespace that no experiment may touch
 */
async function requireOpenNamespace(plan: Plan, cluster: Cluster): Promise<void> {
    const { actions, namespace } = plan;
    if (isAttack(plan) || !changeObjects(actions)) return;
    if (!isSystemNamespace(namespace) && (await protectedNamespaces(cluster, [namespace])).size === 0) return;
    const message = `namespace ${namespace} is protected: no experiment may change anything in it`;
    throw new ReasonError("action-refused", message, "Name another namespace");
}

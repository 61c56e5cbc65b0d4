import { deliveredShare, type Delivery } from "../kinds/actions/beside";
import { Endpoints } from "../kinds/checks/endpoints";
import { namesOf, problemsOf, untilAllHold } from "../kinds/checks/observe";
import { endAttacks } from "../ending/end";
import { activeLeftOf } from "../ending/left";
import { acquireLease } from "../lease/lease";
import { type BesidePod, besidePodsOf } from "../proof/beside-pod";
import { JobPod, startTimeoutMs } from "../proof/job-pod";
import { adviceOnSent, describeDelivery, describeSent, isDelivered, judgeDelivery } from "../report/deliveries";
import { poll } from "../values/async";
import { ReasonError } from "../values/reasons";
import { describeShare } from "../values/share";
import { abortingRun } from "./aborting-run";
import { measureBaseline } from "./baseline";
import { createBeside, equippedBesides } from "./beside-pods";
import type { Accompanied, Given, SteadyState, Step, StepContext } from "./contract";
import { admitBesides, admitJob, otherPolicies } from "./other-policies";
import { requireJob } from "./require-job";
import { refuseIfHeld, steadiness } from "./steady-state";
import { sweep } from "./sweep";

/** So many seconds in a row must show that it does what it is to do, within this time. The first ones are slow. */
const [enoughSeconds, patienceMs] = [5, 30_000];
const lookMs = 500;

/**
 * Begins what goes on beside the run, once the deadline Job runs, which ends it. Waits until it does what it is to do,
 * and wants the checks to hold under it. What is compared with before the attack is measured under it, too.
 */
export const beginBeside: Step<"begin-beside"> = (context, given) =>
    abortingRun(context, () => begin(context, given), {
        hasBegun: true,
        seen: { waitedMs: given.steadyState.waitedMs },
        // After any other error, another try needs the Job and the lease.
        undo: (error) =>
            error instanceof ReasonError
                ? sweep(context, error.reason)
                : endAttacks(context.cluster, activeLeftOf(context.plan)),
    });

async function begin(context: StepContext, given: Given<"begin-beside">): Promise<Accompanied> {
    const { steadyState, room, deadlineJob } = given;
    const { plan, cluster, stack, say } = context;
    const { runName, pass } = steadyState;
    // As in the step `label-targets`: the run may have ended since.
    await acquireLease(cluster, { stack, plan }, runName).catch(refuseIfHeld(context));
    await requireJob(context, deadlineJob);
    const run = await admitJob({ cluster, plan, runName, pass }, deadlineJob);
    await new JobPod(cluster, plan.namespace, deadlineJob).awaitStart(startTimeoutMs);
    const policies = await otherPolicies(cluster, plan.namespace, runName);
    if (policies.length > 0) await admitBesides(run, policies);
    const equipped = await equippedBesides(context, room, { pass });
    for (const pod of equipped) await createBeside(run, pod);
    const pods = besidePodsOf(cluster, plan, runName);
    for (const delivery of await Promise.all(pods.map(untilSteady))) say(describeDelivery(delivery));
    await requireSteadyState(context, steadyState);
    const baseline = await measureBaseline(context, steadyState);
    return baseline ? { baseline } : {};
}

/** @throws ReasonError if it does not do what it is to do, or what is required of it does not hold before the attack */
async function untilSteady(pod: BesidePod): Promise<Delivery> {
    await untilStarted(pod);
    const isSteady = (delivery: Delivery | undefined) => delivery !== undefined && judgeDelivery(delivery).held;
    const last = await poll(() => pod.last(enoughSeconds), isSteady, patienceMs, lookMs);
    const over = await pod.whyOver();
    const unfit = pod.whyUnfit(over === undefined);
    if (unfit !== undefined) throw new ReasonError("action-refused", unfit, "Correct the experiment");
    const nothing = over ?? `the pod ${pod.name} has not reported ${enoughSeconds} s in a row`;
    if (last === undefined || over !== undefined)
        throw new ReasonError("load-not-delivered", nothing, "See its log, and start another run");
    const before = `before the attack, within ${enoughSeconds} s`;
    if (!isDelivered(last))
        throw new ReasonError(
            "load-not-delivered",
            `${describeSent(last)} ${before} (required: ${describeShare(deliveredShare)})`,
            adviceOnSent(last),
        );
    const judged = judgeDelivery(last, false);
    if (judged.held && last.good > 0) return last;
    throw new ReasonError(
        "no-steady-state",
        `there is no steady state under load: ${last.good > 0 ? judged.reason : describeDelivery(last)}`,
        "Repair the application first, send fewer requests, or require less",
    );
}

async function untilStarted(pod: BesidePod): Promise<void> {
    const hasLog = async () => (await pod.last(1)) !== undefined || (await pod.whyOver()) !== undefined;
    if (await poll(hasLog, Boolean, startTimeoutMs, lookMs)) return;
    const why = await pod.whyNotRunning();
    throw new ReasonError(
        "load-not-delivered",
        `the pod ${pod.name} has not begun within ${startTimeoutMs / 1_000} s` +
            (why === undefined ? "" : `: its status says ${why}`),
        "Correct that, and start another run",
    );
}

/** @throws ReasonError if a check does not hold by now */
async function requireSteadyState({ plan, cluster, say }: StepContext, known: SteadyState): Promise<void> {
    const endpoints = new Endpoints(cluster, plan.defaultNamespace, known);
    const { timeoutMs, pauseMs } = steadiness;
    const { failing } = await untilAllHold(plan, { ...plan, cluster, endpoints }, timeoutMs, pauseMs);
    if (failing.length > 0)
        throw new ReasonError(
            "no-steady-state",
            `there is no steady state under load: ${problemsOf(failing)}`,
            "Repair the application first, or send fewer requests",
        );
    say(`Steady under load: ${namesOf(plan)}`);
}

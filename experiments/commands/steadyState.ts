import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../../shared/kubernetes";
import { claim, claimName, ClaimedError, release } from "../claim";
import { askProducts, chooseRoute, describeRoute, type Answer, type Route } from "../checks/products";
import { conclude, type Journal } from "../journal";
import type { Plan } from "../plan";
import { keepReport } from "../report/report";
import { sweep } from "../sweep";
import { choose } from "../targets/choose";
import { discover } from "../targets/discover";
import { runStep, say } from "./step";

/** What the step prints: the way that the check asks, too. */
export interface SteadyState {
    route: Route;
    latencyMs: number;
}

const wanted = 3;
const patienceMs = 10_000;
const pauseMs = 50;

/**
 * Before anything is attacked the namespace must be ours alone, and `/products` whole: three good answers in a row
 * within ten seconds. Else the experiment is aborted, and nothing was touched.
 */
runStep<SteadyState>(async (plan, cluster) => {
    const begun = Date.now();
    await claim(cluster, plan).catch((error: unknown) => {
        if (!(error instanceof ClaimedError)) throw error;
        abort(plan, `${error.message}.`, begun, [], `Disable the experiment there first, or wait until then; two at once would affect more than either's radius allows. If that stack is no more: kubectl --namespace ${plan.namespace} delete lease ${claimName}`);
    });
    try {
        return await steadyState(plan, cluster, begun);
    } catch (error) {
        await release(cluster, plan);
        throw error;
    }
});

async function steadyState(plan: Plan, cluster: Cluster, begun: number): Promise<SteadyState> {
    const { experiment, namespace, shopNamespace, window, area, clusterName, target, radius } = plan;
    const [swept, route, discovered] = await Promise.all([sweep(cluster, namespace, experiment), chooseRoute(cluster, shopNamespace), discover(cluster, area, clusterName, shopNamespace)]);
    if (swept > 0) say(`Removed ${swept} leftovers of an update that was cut short`);
    say(`Asking /products by way of ${describeRoute(route)}`);
    const askedSince = Date.now();
    const answers: Answer[] = [];
    const row: Answer[] = [];
    for (;;) {
        const answer = await askProducts(cluster, route, window.timeoutMs);
        answers.push(answer);
        if (answer.good) row.push(answer);
        else row.length = 0;
        if (row.length === wanted) break;
        if (Date.now() - askedSince > patienceMs) {
            const reason = `there is no steady state to disturb: /products ${(answer.problem ?? "was not answered well three times in a row").replace(/\.$/, "")}.`;
            abort(plan, reason, begun, answers, "Bring the shop back first (`pulumi config set experiment.enabled false`, `pulumi up`, `kubectl get pods`), then enable the experiment again.");
        }
        await sleep(pauseMs);
    }
    const latencyMs = Math.max(...row.map((answer) => answer.latencyMs));
    say(`Steady: ${wanted} good answers in a row, the slowest in ${latencyMs} ms`);
    // Who is hit is chosen later; that there is somebody is made sure of before anything is made.
    choose(discovered, target, radius);
    return { route, latencyMs };
}

/** Ends the run before it has begun, and says what to do. */
function abort(plan: Plan, reason: string, startedAt: number, answers: Answer[], advice: string): never {
    keepReport(aborted(plan, reason, startedAt, answers));
    throw new Error(`ABORTED: ${reason} Nothing was attacked. ${advice}`);
}

/** The journal of a run that ended before it began. */
function aborted(plan: Plan, reason: string, startedAt: number, answers: Answer[]): Journal {
    return {
        schema: 1,
        plan,
        conclusion: conclude(plan, startedAt, {
            attack: "none",
            targets: [],
            verdict: "ABORTED",
            reason: `Aborted: ${reason}`,
            requests: answers.length,
            successRate: "0%",
            timeToFirstFailureMs: null,
            timeToStabilityMs: null,
        }),
        startedAt,
        endedAt: Date.now(),
        targets: [],
        answers,
        readiness: [],
    };
}

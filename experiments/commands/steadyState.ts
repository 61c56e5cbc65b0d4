import type { Cluster } from "../../shared/kubernetes";
import { scaledBy } from "../actions/action";
import { claim, claimName, ClaimedError, release } from "../claim";
import { type Checked, namesOf } from "../checks/look";
import { chooseRoute, describeRoute, type Route } from "../checks/route";
import { problemsOf, settle, wanted } from "../checks/settle";
import { conclude, type Journal } from "../journal";
import type { Plan } from "../plan";
import { keepReport } from "../report/report";
import { sweep } from "../sweep";
import { chooseForAll } from "../targets/choose";
import { discover } from "../targets/discover";
import { runStep, say } from "./step";

/** What the step prints: the way that the check asks, too. */
export interface SteadyState {
    route: Route;
    latencyMs: number;
}

const patienceMs = 10_000;
const pauseMs = 20;

/**
 * Before anything is attacked the namespace must be ours alone, and every check content: three good answers in a row
 * within ten seconds. Else the experiment is aborted, and nothing was touched.
 */
runStep<SteadyState>(async (plan, cluster) => {
    const begun = Date.now();
    await claim(cluster, plan).catch((error: unknown) => {
        if (!(error instanceof ClaimedError)) throw error;
        abort(
            plan,
            `${error.message}.`,
            begun,
            [],
            `Disable the experiment there first, or wait until then; two at once would affect more than either's radius allows. If that stack is no more: kubectl --namespace ${plan.namespace} delete lease ${claimName}`,
        );
    });
    try {
        return await steadyState(plan, cluster, begun);
    } catch (error) {
        await release(cluster, plan);
        throw error;
    }
});

async function steadyState(plan: Plan, cluster: Cluster, begun: number): Promise<SteadyState> {
    const { experiment, namespace, shopNamespace, area, clusterName, attacks } = plan;
    const [swept, route, discovered] = await Promise.all([
        sweep(cluster, namespace, experiment),
        chooseRoute(cluster, shopNamespace),
        discover(cluster, area, clusterName, shopNamespace),
        actionsPossible(plan, cluster),
    ]);
    if (swept > 0) say(`Removed what an earlier run left behind: ${swept} ${swept === 1 ? "object" : "objects"}`);
    say(`Asking ${namesOf(plan)} by way of ${describeRoute(route)}`);
    const { checks, unsettled } = await settle(
        plan,
        { cluster, route, shopNamespace, clusterName },
        patienceMs,
        pauseMs,
    );
    if (unsettled.length > 0) {
        const reason = `there is no steady state to disturb: ${problemsOf(unsettled).replace(/\.$/, "")}.`;
        abort(
            plan,
            reason,
            begun,
            checks,
            "Bring the shop back first (`pulumi config set experiment.enabled false`, `pulumi up`, `kubectl get pods`), then enable the experiment again.",
        );
    }
    const latencyMs = Math.max(
        ...checks.flatMap(({ answers }) => answers.slice(-wanted).map((answer) => answer.latencyMs)),
    );
    say(
        `Steady: ${wanted} good answers in a row${checks.length > 1 ? " to each" : ""}, the slowest in ${latencyMs} ms`,
    );
    // Who is hit is chosen later; that there is somebody is made sure of before anything is made.
    chooseForAll(discovered, attacks);
    return { route, latencyMs };
}

/** @throws Error where an action could not be done, which would leave an attack without a verdict */
async function actionsPossible({ actions, namespace }: Plan, { apps }: Cluster): Promise<void> {
    const scaled = scaledBy(actions);
    if (scaled.length === 0) return;
    const there = (await apps.listNamespacedDeployment({ namespace })).items.map(({ metadata }) => metadata!.name!);
    const missing = scaled.filter((name) => !there.includes(name));
    if (missing.length > 0)
        throw new Error(
            `the experiment scales ${missing.join(" and ")}, and there is no such Deployment in namespace ${namespace}; there are: ${there.join(", ") || "none"}`,
        );
}

/** Ends the run before it has begun, and says what to do. */
function abort(plan: Plan, reason: string, startedAt: number, checks: Checked[], advice: string): never {
    keepReport(aborted(plan, reason, startedAt, checks));
    throw new Error(`ABORTED: ${reason} Nothing was attacked. ${advice}`);
}

/** The journal of a run that ended before it began. */
function aborted(plan: Plan, reason: string, startedAt: number, checks: Checked[]): Journal {
    return {
        schema: 2,
        plan,
        conclusion: conclude(plan, startedAt, {
            attack: "none",
            targets: [],
            verdict: "ABORTED",
            reason: `Aborted: ${reason}`,
            requests: checks.flatMap(({ answers }) => answers).length,
            successRate: "0%",
            timeToFirstFailureMs: null,
            timeToStabilityMs: null,
            checks: [],
            actions: [],
        }),
        startedAt,
        endedAt: Date.now(),
        attacks: [],
        checks,
        actions: [],
        readiness: [],
    };
}

import { appendFileSync } from "node:fs";
import { describeMilliseconds } from "../../shared/duration";
import { orMissing } from "../../shared/kubernetes";
import { kindOf } from "../attacks/attack";
import { release } from "../claim";
import { askProducts, type Answer } from "../checks/products";
import { askThrough } from "../checks/window";
import { conclude, type Journal } from "../journal";
import { answersFileVariable, resultFromEnvironment } from "../plan";
import { AttackProof } from "../proof";
import { ReadinessRecorder } from "../readiness";
import { recover } from "../recover";
import { keepReport } from "../report/report";
import { sweep } from "../sweep";
import type { ChosenTargets } from "../targets/chosen";
import { judge, measure, percent, type Verdict } from "../verdict";
import type { SteadyState } from "./steadyState";
import { Witness } from "../witness";
import { runStep, say } from "./step";

/** Proves the attack, asks `/products` through the window, proves the attack again, and gives the verdict. */
runStep(async (plan, cluster) => {
    const startedAt = Date.now();
    const { route } = resultFromEnvironment<SteadyState>("STEADY_STATE");
    const { targets, doubt: controlDoubt } = resultFromEnvironment<ChosenTargets>("TARGETS");
    const kind = kindOf(plan.attack);
    const object = { name: process.env.POLICY!, namespace: plan.namespace };
    const attack = await orMissing<object>(kind.killing ? cluster.core.readNamespacedConfigMap(object) : cluster.networking.readNamespacedNetworkPolicy(object));
    const doubtBefore = attack ? controlDoubt : ended(plan.run);
    const mustFail = kind.proof(plan.attack);
    const witness = new Witness(cluster, plan.namespace, process.env.DEADLINE_JOB!, targets, mustFail.inward);
    const attackProof = new AttackProof(cluster, mustFail, targets, witness);
    const { graceMs, durationMs, intervalMs, timeoutMs } = plan.window;
    const readiness = new ReadinessRecorder(cluster, plan.shopNamespace);

    const proof = doubtBefore === undefined ? await attackProof.attackProven() : { doubt: doubtBefore };
    let answers: Answer[] = [];
    let doubt: string | undefined;
    if ("doubt" in proof) {
        doubt = proof.doubt;
    } else {
        say(`Proven: ${targets.map(({ pod }) => pod).join(", ")} ${targets.length === 1 ? "is" : "are"} ${kind.describe(plan.attack)}. Asking /products for ${describeMilliseconds(graceMs + durationMs)}`);
        const lengthMs = graceMs + durationMs;
        [answers, doubt] = await Promise.all([
            askThrough(() => tell(askProducts(cluster, route, timeoutMs)), lengthMs, intervalMs),
            attackProof.attackHolds(proof, Date.now() + lengthMs),
        ]);
    }

    const attackedAt = "doubt" in proof ? undefined : proof.attackedAt;
    const measured = measure(answers, attackedAt ?? startedAt, graceMs);
    const judged: { verdict: Verdict; reason: string } = doubt === undefined ? judge(measured, plan.window, answers) : { verdict: "INCONCLUSIVE", reason: `Nothing is known: ${doubt}.` };
    const journal: Journal = {
        schema: 1,
        plan,
        conclusion: conclude(plan, startedAt, {
            attack: plan.attack.kind,
            targets: targets.map(({ namespace, pod, container }) => `${namespace}/${pod}/${container}`),
            ...judged,
            requests: measured.requests,
            successRate: percent(measured.successRate),
            timeToFirstFailureMs: measured.firstFailureMs ?? null,
            timeToStabilityMs: measured.stableAfterMs ?? null,
        }),
        startedAt,
        attackedAt,
        endedAt: Date.now(),
        targets,
        answers,
        readiness: readiness.stop(),
        ...(kind.killing && { kills: (await witness.kills()).map(({ at, killed }) => ({ at, ...killed })) }),
    };
    keepReport(journal);
    say(`${judged.verdict}: ${judged.reason}`);
    if (plan.onFailure === "fail" && judged.verdict !== "PASSED") {
        await sweep(cluster, plan.namespace, plan.experiment);
        await release(cluster, plan);
        await recover(cluster, plan);
        throw new Error(`${judged.verdict}: ${judged.reason} The attack is undone, and /products is whole again; the journal is ${journal.conclusion.journal}`);
    }
    return journal.conclusion;
});

/** The engine begins a check again that was killed, or that failed the update; its attack is over by then. */
function ended(run: string): string {
    return `the attack of run ${run} is over, by its deadline or with an earlier update. Begin another: pulumi config set experiment.run '${run} again'`;
}

const told = { good: 0, bad: 0, at: Date.now() };

/**
 * A line every five seconds: how many answers were good and bad so far. And each answer at once, where somebody who
 * watches the run has named a file for them.
 */
async function tell(asked: Promise<Answer>): Promise<Answer> {
    const answer = await asked;
    const watcher = process.env[answersFileVariable];
    if (watcher) appendFileSync(watcher, `${JSON.stringify(answer)}\n`);
    told[answer.good ? "good" : "bad"]++;
    if (Date.now() - told.at >= 5_000) {
        told.at = Date.now();
        say(`${told.good} good, ${told.bad} bad${answer.problem ? `; ${answer.problem}` : ""}`);
    }
    return answer;
}

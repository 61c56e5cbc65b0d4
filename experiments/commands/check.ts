import { describeMilliseconds } from "../../shared/duration";
import { askProducts, type Answer } from "../checks/products";
import { askThrough } from "../checks/window";
import { type Journal, journalPath, keepJournal } from "../journal";
import { resultFromEnvironment } from "../plan";
import { targetsUnchanged, Witness } from "../proof";
import type { ChosenTargets } from "../targets/chosen";
import { judge, measure, percent, type Verdict } from "../verdict";
import type { SteadyState } from "./steadyState";
import { runStep, say } from "./step";

/** Proves the attack, asks `/products` through the window, proves the attack again, and gives the verdict. */
runStep(async (plan, cluster) => {
    const startedAt = Date.now();
    const { route } = resultFromEnvironment<SteadyState>("STEADY_STATE");
    const { targets } = resultFromEnvironment<ChosenTargets>("TARGETS");
    const witness = new Witness(cluster, plan.namespace, process.env.DEADLINE_JOB!, targets);
    const { graceMs, durationMs, intervalMs, timeoutMs } = plan.window;

    const proof = await witness.attackProven();
    let answers: Answer[] = [];
    let doubt: string | undefined;
    if ("doubt" in proof) {
        doubt = proof.doubt;
    } else {
        say(`Proven: fresh connections to ${targets.map(({ pod }) => pod).join(", ")} fail. Asking /products for ${describeMilliseconds(graceMs + durationMs)}`);
        answers = await askThrough(() => tell(askProducts(cluster, route, timeoutMs)), graceMs + durationMs, intervalMs);
        doubt = (await witness.attackHeld(proof)) ?? (await targetsUnchanged(cluster, targets));
    }

    const attackedAt = "doubt" in proof ? undefined : proof.attackedAt;
    const measured = measure(answers, attackedAt ?? startedAt, graceMs);
    const judged: { verdict: Verdict; reason: string } = doubt === undefined ? judge(measured, plan.window, answers) : { verdict: "INCONCLUSIVE", reason: `Nothing is known: ${doubt}.` };
    const journal: Journal = {
        schema: 1,
        plan,
        conclusion: {
            name: plan.experiment,
            run: plan.run,
            hypothesis: plan.hypothesis,
            attack: "blackhole",
            targets: targets.map(({ namespace, pod, container }) => `${namespace}/${pod}/${container}`),
            ...judged,
            requests: measured.requests,
            successRate: percent(measured.successRate),
            timeToFirstFailureMs: measured.firstFailureMs ?? null,
            timeToStabilityMs: measured.stableAfterMs ?? null,
            journal: journalPath(plan, startedAt),
        },
        startedAt,
        attackedAt,
        endedAt: Date.now(),
        targets,
        answers,
    };
    keepJournal(journal);
    say(`${judged.verdict}: ${judged.reason}`);
    return journal.conclusion;
});

const told = { good: 0, bad: 0, at: Date.now() };

/** A line every five seconds: how many answers were good and bad so far. */
async function tell(asked: Promise<Answer>): Promise<Answer> {
    const answer = await asked;
    told[answer.good ? "good" : "bad"]++;
    if (Date.now() - told.at >= 5_000) {
        told.at = Date.now();
        say(`${told.good} good, ${told.bad} bad${answer.problem ? `; ${answer.problem}` : ""}`);
    }
    return answer;
}

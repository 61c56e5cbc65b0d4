import { describeMilliseconds } from "../../shared/duration";
import { type Cluster, orMissing, reasonOf } from "../../shared/kubernetes";
import { perform, type Performed } from "../actions/perform";
import { kindOf } from "../attacks/attack";
import { type Checked, look, namesOf } from "../checks/look";
import { askThrough, sleptSince } from "../checks/window";
import { conclude, type Journal } from "../journal";
import { type Plan, resultFromEnvironment } from "../plan";
import { AttackProofs } from "../proofs";
import { ReadinessRecorder } from "../readiness";
import { keepReport } from "../report/report";
import type { ChosenTargets } from "../targets/chosen";
import { undo } from "../undo";
import { judge, judgeCheck, percent, together, type Verdict } from "../verdict";
import type { SteadyState } from "./steadyState";
import { runStep, say } from "./step";
import { AnswerTeller } from "./tell";

/** Proves the attacks, has the checks look through the window while the actions are done, proves the attacks again, and gives the verdict. */
runStep(async (plan, cluster) => {
    const startedAt = Date.now();
    const { route } = resultFromEnvironment<SteadyState>("STEADY_STATE");
    const { attacks: chosen, control } = resultFromEnvironment<ChosenTargets>("TARGETS");
    const { shopNamespace, clusterName, namespace } = plan;
    const { graceMs, durationMs } = plan.window;
    const overAtFirst = await overBecause(plan, cluster);
    const before = overAtFirst === undefined ? control : { doubt: overAtFirst };
    const proofs = new AttackProofs(
        cluster,
        plan,
        process.env.DEADLINE_JOB!,
        chosen,
        "doubt" in before ? undefined : before.tookMs,
    );
    const readiness = new ReadinessRecorder(cluster, shopNamespace);

    const proof = "doubt" in before ? before : await proofs.proven().catch(notSeen);
    let checks: Checked[] = plan.checks.map(({ name }) => ({ name, answers: [] }));
    let actions: Performed[] = [];
    let doubt: string | undefined;
    if ("doubt" in proof) {
        doubt = proof.doubt;
    } else {
        const lengthMs = graceMs + durationMs;
        say(`Proven: ${provenInWords(plan, chosen)}. Asking ${namesOf(plan)} for ${describeMilliseconds(lengthMs)}`);
        const teller = new AnswerTeller(plan.checks.length > 1);
        const asking = plan.checks.map(async (check) => {
            const ask = () => teller.tell(check.name, look(check, { cluster, route, shopNamespace, clusterName }));
            return { name: check.name, answers: await askThrough(ask, lengthMs, check.intervalMs) };
        });
        const sleptMs = sleptSince();
        [checks, actions, doubt] = await Promise.all([
            Promise.all(asking),
            perform(plan.actions, cluster, namespace, () => attacksThere(plan, cluster), say),
            proofs.hold(proof, Date.now() + lengthMs).catch((error: unknown) => notSeen(error).doubt),
        ]);
        const undone = actions.find(({ problem }) => problem !== undefined);
        doubt ??= undone && `it was not possible to ${undone.action}: ${undone.problem!.replace(/\.$/, "")}`;
        // Answers may have come after the last proof: the one counts time by the clock, the other by what has gone by awake.
        if (sleptMs() > mostSleptMs)
            doubt ??= `this machine slept for ${describeMilliseconds(sleptMs())} in the middle of the run`;
        doubt ??= await overBecause(plan, cluster);
    }

    const attackedAt = "doubt" in proof ? undefined : Math.max(...proof.map((one) => one.attackedAt));
    const judged = plan.checks.map((check, index) =>
        judgeCheck(check, checks[index]!.answers, attackedAt ?? startedAt, graceMs),
    );
    doubt ??= judged.find((one) => one.doubt !== undefined)?.doubt;
    const measured = together(judged.map((one) => one.measured));
    const known: { verdict: Verdict; reason: string } =
        doubt === undefined ? judge(judged) : { verdict: "INCONCLUSIVE", reason: `Nothing is known: ${doubt}.` };
    // They are told beside the verdict, which does not rest on them.
    const kills = await proofs.kills().catch(() => []);
    const journal: Journal = {
        schema: 2,
        plan,
        conclusion: conclude(plan, startedAt, {
            attack: [...new Set(plan.attacks.map(({ attack }) => attack.kind))].join(","),
            targets: chosen.flatMap(({ targets }) =>
                targets.map(({ namespace: where, pod, container }) => `${where}/${pod}/${container}`),
            ),
            ...known,
            requests: measured.requests,
            successRate: percent(measured.successRate),
            timeToFirstFailureMs: measured.firstFailureMs ?? null,
            timeToStabilityMs: measured.stableAfterMs ?? null,
            checks:
                doubt === undefined
                    ? judged.map(({ name, held, measured: { requests, successRate } }) => ({
                          name,
                          held,
                          requests,
                          successRate: percent(successRate),
                      }))
                    : [],
            actions: actions.filter(({ problem }) => problem === undefined).map(({ action }) => action),
        }),
        startedAt,
        attackedAt,
        endedAt: Date.now(),
        attacks: plan.attacks.map(({ name }, index) => ({
            name,
            provenAt: "doubt" in proof ? undefined : proof[index]!.attackedAt,
            targets: chosen[index]!.targets,
            kills: kills[index],
        })),
        checks,
        actions,
        readiness: readiness.stop(),
    };
    keepReport(journal);
    say(`${known.verdict}: ${known.reason}`);
    if (plan.onFailure === "fail" && known.verdict !== "PASSED") {
        await undo(cluster, plan, say);
        throw new Error(
            `${known.verdict}: ${known.reason} The attack is undone, and ${namesOf(plan)} ${plan.checks.length === 1 ? "is" : "are"} whole again; the journal is ${journal.conclusion.journal}`,
        );
    }
    return journal.conclusion;
});

/** More than a clock is set right by, in milliseconds. */
const mostSleptMs = 1_000;

/** What cannot be asked shows nothing; that is a verdict, too, and no reason to leave the run without one. */
const notSeen = (error: unknown) => ({
    doubt: `the cluster could not be asked: ${reasonOf(error).replace(/\.$/, "")}`,
});

/** Why the attacks are over, or nobody can say whether they are; undefined where they are not. */
function overBecause(plan: Plan, cluster: Cluster): Promise<string | undefined> {
    return attacksThere(plan, cluster).then(
        (there) => (there ? undefined : ended(plan.run)),
        (error: unknown) => notSeen(error).doubt,
    );
}

/** Whether the attacks' objects, which the engine has made, are still there. */
async function attacksThere({ attacks, namespace }: Plan, { core, networking }: Cluster): Promise<boolean> {
    const names = resultFromEnvironment<string[]>("ATTACKS");
    const found = await Promise.all(
        attacks.map(({ attack }, index) => {
            const object = { name: names[index]!, namespace };
            return orMissing<object>(
                kindOf(attack).killing
                    ? core.readNamespacedConfigMap(object)
                    : networking.readNamespacedNetworkPolicy(object),
            );
        }),
    );
    return found.every((object) => object !== undefined);
}

/** Whom each attack hits, and what is done to them, as a part of a sentence. */
function provenInWords({ attacks }: Plan, chosen: ChosenTargets["attacks"]): string {
    const each = attacks.map(({ attack }, index) => {
        const pods = chosen[index]!.targets.map(({ pod }) => pod);
        return `${pods.join(", ")} ${pods.length === 1 ? "is" : "are"} ${kindOf(attack).describe(attack)}`;
    });
    return each.join("; ");
}

/** The engine begins a check again that was killed, or that failed the update; its attack is over by then. */
function ended(run: string): string {
    return `the attack of run ${run} is over, by its deadline or with an earlier update. Begin another: pulumi config set experiment.run '${run} again'`;
}

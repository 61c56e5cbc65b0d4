import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { scaledBy } from "./actions/action";
import { kindOf } from "./attacks/attack";
import { AttackOrder } from "./attacks/order";
import { AttackPolicy } from "./attacks/policy";
import { Deadline, type DeadlineAttack } from "./deadline/deadline";
import type { Conclusion } from "./journal";
import { markOf, type Plan, type PlannedAttack, planToken, planVariable, stackVariable } from "./plan";
import { type ChosenTargets, podsOf } from "./targets/chosen";

export interface ExperimentArgs {
    plan: Plan;
    /** A Node image, for the deadline's Job. */
    image: string;
}

/**
 * An experiment as a part of the stack: the update that adds it runs it, the update that takes it away undoes it.
 *
 * Its parts are made in this order and removed in reverse. Each is handed what the one before it found, so that the
 * engine sees the order too: another plan (`experiment.run`, say) first removes all of them, the attack before the
 * wait for recovery, and then makes them anew.
 */
export class Experiment extends pulumi.ComponentResource {
    /** The run's verdict and what it rests on; unknown until the check has ended. */
    readonly conclusion: pulumi.Output<Conclusion>;

    constructor(name: string, { plan, image }: ExperimentArgs, opts?: pulumi.ComponentResourceOptions) {
        super("chaos-shop:experiment:Experiment", name, {}, opts);
        const { experiment, namespace, deadlineMs } = plan;
        const runName = `${experiment}-${planToken(plan)}`;
        const attacks = plan.attacks.map((attack) => deadlineAttack(plan, attack, runName));

        const steadyState = step(
            "steady-state",
            { create: "steadyState", delete: "recovery", plan },
            { parent: this, dependsOn: opts?.dependsOn },
        );
        const deadline = new Deadline(
            "deadline",
            { experiment, namespace, runName, attacks, scaled: scaledBy(plan.actions), deadlineMs, image },
            { parent: this, dependsOn: steadyState },
        );
        const deadlineJob = deadline.job.metadata.name;
        // All of the deadline, so that the Job keeps its rights for as long as there is an attack to end.
        const targets = step(
            "targets",
            {
                create: "mark",
                delete: "unmark",
                plan,
                given: { STEADY_STATE: steadyState.stdout, DEADLINE_JOB: deadlineJob },
            },
            { parent: this, dependsOn: deadline.parts },
        );
        const objects = plan.attacks.map(({ name: attackName, attack }, index) => {
            const { object, mark, killing } = attacks[index]!;
            const chosen = targets.stdout.apply((found) => (JSON.parse(found) as ChosenTargets).attacks[index]!);
            const peers =
                kindOf(attack).proof(attack).peers &&
                chosen.apply((found) => found.peers!.map(({ address }) => address));
            const AttackObject = killing ? AttackOrder : AttackPolicy;
            return new AttackObject(
                attackName,
                { attack, experiment, namespace, object, mark, targets: chosen.apply(podsOf), peers },
                { parent: this },
            );
        });
        const given = {
            STEADY_STATE: steadyState.stdout,
            TARGETS: targets.stdout,
            DEADLINE_JOB: deadlineJob,
            ATTACKS: pulumi.jsonStringify(objects.map(({ metadata }) => metadata.name)),
        };
        const check = step("check", { create: "check", plan, given }, { parent: this });

        this.conclusion = check.stdout.apply((printed) => JSON.parse(printed) as Conclusion);
        this.registerOutputs({ conclusion: this.conclusion });
    }
}

/** What the deadline's Job has to know of an attack. */
function deadlineAttack(plan: Plan, planned: PlannedAttack, runName: string): DeadlineAttack {
    const { name, attack, target, radius } = planned;
    const kind = kindOf(attack);
    const often = kind.killing?.(attack);
    const mark = markOf(plan, planned);
    const killing = often && { ...often, mark, target, radius, clusterName: plan.clusterName };
    return { object: `${runName}-${name}`, mark, listenPort: kind.proof(attack).outward?.port, killing };
}

interface Step {
    /** Programs in `commands/`. */
    create: string;
    delete?: string;
    plan: Plan;
    /** What earlier steps printed, by environment variable. */
    given?: Record<string, pulumi.Output<string>>;
}

/**
 * A step that does something instead of making something: a command resource. It runs again only where its plan or
 * what it was given has changed. What it prints is its result, as JSON; it tells of its progress on standard error.
 */
function step(
    name: string,
    { create, delete: remove, plan, given = {} }: Step,
    opts: pulumi.CustomResourceOptions,
): command.local.Command {
    const run = (program: string) => `node experiments/commands/run.js ${program}`;
    return new command.local.Command(
        name,
        {
            create: run(create),
            delete: remove && run(remove),
            environment: { ...given, [planVariable]: JSON.stringify(plan), [stackVariable]: pulumi.getStack() },
            triggers: [planToken(plan), ...Object.values(given)],
            logging: "stderr",
        },
        { ...opts, deleteBeforeReplace: true },
    );
}

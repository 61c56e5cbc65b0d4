import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { scaledBy } from "./actions/registry";
import { objectTypeOf } from "./attacks/objects";
import { attackKindOf } from "./attacks/registry";
import { attackResource } from "./attacks/resource";
import { Deadline, type DeadlineAttack } from "./deadline/deadline";
import { type Plan, type PlannedAttack, planToken, runNameOf, targetLabelFor } from "./definition/plan";
import type { Conclusion } from "./report/journal-schema";
import { type LabeledTargets, type StepInputs, type StepName, variables } from "./steps/contract";

export interface ExperimentArgs {
    plan: Plan;
    /** A Node image, for the deadline Job. */
    image: string;
    programs: ExperimentPrograms;
    /** Distinguishes the stack from others of its name, in the lease that it holds. @default none */
    identity?: string;
}

/** How this package's own programs are run. */
export interface ExperimentPrograms {
    /** The command that runs a step; the step's name is appended. Runs in the folder of the Pulumi project. */
    stepCommand: string;
    /** The deadline Job's program: JavaScript for Node, in one file. */
    deadline: string;
}

/**
 * An experiment as a part of a stack: the update that adds it runs it, the update that removes it undoes it.
 *
 * Its parts are created in this order and removed in reverse. Each is given what the one before it found, so the engine
 * knows the order too: another plan (`experiment.run`, say) removes all parts first, the attack before the wait for
 * recovery.
 */
export class Experiment extends pulumi.ComponentResource {
    /** The verdict and what it rests on. Known when the check has ended. */
    readonly conclusion: pulumi.Output<Conclusion>;

    constructor(
        name: string,
        { plan, image, programs, identity }: ExperimentArgs,
        opts?: pulumi.ComponentResourceOptions,
    ) {
        super("chaos-shop:experiment:Experiment", name, {}, opts);
        const { experiment, namespace, deadlineMs } = plan;
        const runName = runNameOf(plan);
        const attacks = plan.attacks.map((attack) => deadlineAttack(plan, attack, runName));
        const stack = holderOf(identity);
        const step = (resource: string, args: StepArgs, dependsOn?: pulumi.ResourceOptions["dependsOn"]) =>
            stepResource(resource, plan, programs.stepCommand, { stack, ...args }, { parent: this, dependsOn });

        const first = step("steady-state", { create: "steady-state", delete: "recovery" }, opts?.dependsOn);
        const steadyState = first.stdout;
        const deadline = new Deadline(
            "deadline",
            {
                experiment,
                namespace,
                runName,
                attacks,
                scaled: scaledBy(plan.actions),
                deadlineMs,
                image,
                program: programs.deadline,
            },
            { parent: this, dependsOn: first },
        );
        const deadlineJob = deadline.job.metadata.name;
        const { stdout: targets } = step(
            "targets",
            { create: "label-targets", delete: "unlabel-targets", given: { steadyState, deadlineJob } },
            // All parts: the Job keeps its rights while there is an attack to end.
            deadline.parts,
        );
        const objects = plan.attacks.map(({ name: attackName, attack }, index) => {
            const { object, label } = attacks[index]!;
            const chosen = targets.apply((found) => (JSON.parse(found) as LabeledTargets).attacks[index]!);
            const args = { attack, experiment, namespace, object, targetLabel: label, chosen };
            return attackResource(attackName, args, { parent: this });
        });
        const attackObjects = pulumi.jsonStringify(objects.map(({ metadata }) => metadata.name));
        const { stdout: conclusion } = step("check", {
            create: "check",
            given: { steadyState, targets, deadlineJob, attackObjects },
        });

        this.conclusion = conclusion.apply((printed) => JSON.parse(printed) as Conclusion);
        this.registerOutputs({ conclusion: this.conclusion });
    }
}

/** The stack, as leases name it. @param identity distinguishes it from others of its name */
export function holderOf(identity?: string): string {
    return [pulumi.getStack(), ...(identity === undefined ? [] : [identity])].join("/");
}

function deadlineAttack(plan: Plan, planned: PlannedAttack, runName: string): DeadlineAttack {
    const { name, attack, target, radius } = planned;
    const kind = attackKindOf(attack);
    const interval = kind.killing?.(attack);
    const label = targetLabelFor(plan, planned);
    const killing = interval && { ...interval, label, target, radius, clusterName: plan.clusterName };
    return {
        object: `${runName}-${name}`,
        objectType: objectTypeOf(attack),
        label,
        listenPort: kind.proof(attack).outward?.port,
        killing,
    };
}

interface StepArgs {
    create: StepName;
    delete?: StepName;
    /** What earlier steps and resources provide. */
    given?: Partial<Record<keyof StepInputs, pulumi.Output<string>>>;
}

/**
 * A step as a command resource. It runs again only if its plan or what it is given has changed. Its standard output is
 * its result, as JSON; its progress goes to standard error.
 */
function stepResource(
    name: string,
    plan: Plan,
    stepCommand: string,
    { create, delete: remove, given = {}, stack }: StepArgs & { stack: string },
    opts: pulumi.CustomResourceOptions,
): command.local.Command {
    const inputs = Object.entries(given) as [keyof StepInputs, pulumi.Output<string>][];
    return new command.local.Command(
        name,
        {
            create: `${stepCommand} ${create}`,
            delete: remove && `${stepCommand} ${remove}`,
            environment: {
                ...Object.fromEntries(inputs.map(([input, value]) => [variables[input], value])),
                [variables.plan]: JSON.stringify(plan),
                [variables.stack]: stack,
            },
            triggers: [planToken(plan), stack, ...inputs.map(([, value]) => value)],
            logging: "stderr",
        },
        { ...opts, deleteBeforeReplace: true },
    );
}

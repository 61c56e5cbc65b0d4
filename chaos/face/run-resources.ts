import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { objectNameOf } from "../kinds/attacks/registry";
import { attackResource } from "../kinds/attacks/resource";
import { Deadline } from "../witness/deadline";
import { identityOf, needsDeadlineJob, planToken, targetLabelFor, tokenOf } from "../definition/plan";
import type { Conclusion } from "../report/conclusion";
import {
    type LabeledTargets,
    nothingAttacked,
    printingAgain,
    type SteadyState,
    type StepInputs,
    type StepName,
    variables,
} from "../run/contract";
import { unknown } from "./stash";
import { doNothing, printAgain, runFromInput } from "../pods/packed";
import { roomOf, type RoomArgs } from "./objects-to-try";
import { asVariable, compressed, parsed } from "../run/variable";

export interface RunArgs extends RoomArgs {
    /** Text of a kubeconfig, a secret. @default the machine's own */
    kubeconfig?: pulumi.Input<string>;
    /** What must be there before the run begins. */
    dependsOn?: pulumi.ResourceOptions["dependsOn"];
}

/**
 * The resources of a run: the update that adds them runs the experiment, the update that removes them undoes it.
 *
 * They are created in this order and removed in reverse. Each is given what the one before it found, so the engine
 * knows the order too: another plan (another `run`, say) removes all of them first, the attack before the wait for
 * recovery. Without attacks, there is a deadline Job only if an action must be undone.
 *
 * @param args with a `stack` that is unknown, nothing is computed from what another plan's steps have printed
 * @returns as `conclusionOf`; the targets, known when they are chosen
 */
export function runResources(args: RunArgs): {
    conclusion: pulumi.Output<Conclusion | undefined>;
    targets: pulumi.Output<LabeledTargets>;
} {
    const { plan, prefix, parent } = args;
    const step = (name: string, how: StepArgs, dependsOn?: pulumi.ResourceOptions["dependsOn"]) =>
        stepResource(`${prefix}${name}`, args, how, { parent, dependsOn });

    const check = (given: StepArgs["given"], dependsOn?: pulumi.Resource) =>
        conclusionOf(step("check", { create: "check", given }, dependsOn).resource);

    const hasJob = needsDeadlineJob(plan);
    const room = hasJob ? roomOf(args).apply((known) => compressed(JSON.stringify(known))) : undefined;
    const first = step(
        "steady-state",
        { create: "steady-state", delete: "recovery", given: room && { room } },
        args.dependsOn,
    );
    const steadyState = first.result;
    if (!hasJob) {
        const targets = pulumi.jsonStringify(nothingAttacked.targets);
        const attackObjects = pulumi.jsonStringify(nothingAttacked.attackObjects);
        const deadlineJob = pulumi.output(nothingAttacked.deadlineJob);
        const conclusion = check({ steadyState, targets, deadlineJob, attackObjects });
        return { conclusion, targets: conclusion.apply(() => nothingAttacked.targets) };
    }

    // From the state: another version must not rename the objects of a run that has begun.
    const found = steadyState.apply((printed) => parsed<SteadyState>(printed));
    const runName = found.apply((known) => known.runName);
    const pass = found.apply((known) => known.pass);
    const mayMakeEvents = found.apply((known) => known.mayMakeEvents ?? false);
    const replacesAtOnce = found.apply((known) => known.replacesAtOnce ?? false);
    const { image, programs, pod } = args;
    const deadline = new Deadline(
        `${prefix}deadline`,
        { plan, runName, pass, mayMakeEvents, replacesAtOnce, image, pod, program: programs.deadline },
        { parent, dependsOn: first.resource },
    );
    // Not its uid: a refresh may find that the Job is gone, and make another. That is no other run.
    const deadlineJob = deadline.job.metadata.name;
    const targets = step(
        "targets",
        { create: "label-targets", given: { steadyState, room, deadlineJob } },
        // All parts: the Job keeps its rights while there is an attack to end.
        deadline.parts,
    ).result;
    const objects = plan.attacks.map((planned) => {
        const { experiment, namespace } = plan;
        const { name, attack } = planned;
        const object = runName.apply((run) => objectNameOf(run, name));
        const targetLabel = targetLabelFor(plan, planned);
        // A run of another plan may have failed half-way, and the update leaves out what would replace it.
        const chosen = targets.apply(
            (found) => parsed<LabeledTargets>(found).attacks.find((one) => one.name === name) ?? unknown,
        );
        const made = {
            attack,
            experiment,
            namespace,
            runName,
            pass,
            object,
            targetLabel,
            chosen,
            image,
            programs,
            pod,
        };
        return attackResource(`${prefix}${name}`, made, { parent });
    });
    const attackObjects = pulumi.jsonStringify(objects.map(({ metadata }) => metadata.name));
    // Pulumi deletes this before the attacks' policies: pods that other policies do not select would be open. A part of
    // the check would not do: of a check that was killed, the state knows nothing.
    // It is given what these are, so that another plan removes it with them, and not after the next ones have begun.
    const { resource: end } = step("end-attacks", { delete: "end-attacks", given: { targets, attackObjects } });
    const conclusion = check({ steadyState, targets, deadlineJob, attackObjects }, end);
    return { conclusion, targets: targets.apply((found) => parsed<LabeledTargets>(found)) };
}

/**
 * The verdict and what it rests on, known when the check has ended. Undefined if the update leaves out a check that the
 * state does not have.
 */
function conclusionOf(check: command.local.Command): pulumi.Output<Conclusion | undefined> {
    const printed = pulumi.unsecret(check.stdout) as pulumi.Output<string | undefined>;
    const parse = (text: string | undefined) => (text === undefined ? undefined : parsed<Conclusion>(text));
    return printed.apply(parse);
}

/** The conclusion of an experiment that the update leaves out, as the state has it: the engine changes nothing. */
export const conclusionInState = (prefix: string, parent: pulumi.Resource) =>
    conclusionOf(new command.local.Command(`${prefix}check`, { create: doNothing }, { parent }));

interface StepArgs {
    /** @default nothing is done */
    create?: StepName;
    delete?: StepName;
    /** What earlier steps and resources provide. */
    given?: Partial<Record<keyof StepInputs, pulumi.Output<string>>>;
}

/** What makes no other run if it changes: another version of this package may make other pods. */
const again: readonly (keyof StepInputs)[] = ["room"];

/**
 * A step as a command resource. It runs again only if its plan or what it is given has changed: another version of this
 * package, another folder or another kubeconfig only updates the state. Its standard output is its result, as JSON; its
 * progress goes to standard error.
 */
function stepResource(
    name: string,
    { plan, stack, programs, kubeconfig }: RunArgs,
    { create, delete: remove, given = {} }: StepArgs,
    opts: pulumi.CustomResourceOptions,
): { resource: command.local.Command; result: pulumi.Output<string> } {
    const inputs = Object.entries(given).filter(([, value]) => value !== undefined) as [
        keyof StepInputs,
        pulumi.Output<string>,
    ][];
    const resource = new command.local.Command(
        name,
        {
            create: create === undefined ? doNothing : `${programs.stepCommand} ${create}`,
            // A run that holds the lease is undone where it began.
            update: remove === "recovery" ? `${runFromInput} ${printingAgain}` : printAgain,
            ...(remove && { delete: `${runFromInput} ${remove}`, stdin: programs.steps }),
            // As one value, of which a preview shows nothing if it does not know all: so the packed plan is there once.
            environment: pulumi.all({
                ...Object.fromEntries(inputs.map(([input, value]) => [variables[input], value])),
                [variables.plan]: compressed(JSON.stringify(plan)),
                [variables.stack]: stack,
                ...(kubeconfig !== undefined && {
                    [variables.kubeconfig]: pulumi.secret(pulumi.output(kubeconfig).apply(asVariable)),
                }),
            }),
            triggers: pulumi
                .all([
                    planToken(plan),
                    // A stack may be renamed.
                    pulumi.output(stack).apply(identityOf),
                    ...inputs.flatMap(([input, value]) => (again.includes(input) ? [] : [value])),
                ])
                .apply((known) => [tokenOf(JSON.stringify(known))]),
            logging: "stderr",
        },
        { ...opts, deleteBeforeReplace: true },
    );
    // What steps print has no secrets. With a secret in its environment, the provider takes its output for one, and
    // neither verdicts nor diffs would show.
    const result = pulumi.all([stack, pulumi.unsecret(resource.stdout)]).apply(([, printed]) => printed ?? unknown);
    return { resource, result };
}

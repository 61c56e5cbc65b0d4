import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { objectNameOf } from "../kinds/attacks/registry";
import { attackResource } from "../kinds/attacks/attack-resource";
import { Deadline } from "../witness/deadline";
import { identityOf, isAccompanied, needsDeadlineJob, planToken, targetLabelFor, hashOf } from "../definition/plan";
import type { Conclusion } from "../report/conclusion";
import {
    type Accompanied,
    asVariable,
    type Given,
    type Input,
    inputVariables,
    type LabeledTargets,
    nothingAttacked,
    parsed,
    printingAgain,
    type SteadyState,
    type StepName,
    variables,
} from "../run/contract";
import { startProviders } from "./start-providers";
import { unknown } from "./stash";
import { doNothing, printAgain, runFromInput } from "../pods/packed";
import { roomOf, type RoomArgs } from "./objects-to-try";

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
    const step = <N extends StepName>(name: string, how: StepArgs<N>) => stepResource(name, args, how);
    const check = (how: StepArgs<"check">) => conclusionOf(step("check", { create: "check", ...how }).resource);

    const hasJob = needsDeadlineJob(plan);
    const room = hasJob ? roomOf(args) : undefined;
    if (hasJob && !pulumi.runtime.isDryRun()) startProviders(parent);
    const first = step("steady-state", {
        create: "steady-state",
        delete: "recovery",
        given: { room },
        dependsOn: args.dependsOn,
    });
    const steadyState = first.printed.apply((text) => parsed<SteadyState>(text));
    if (!hasJob) {
        const { targets, deadlineJob } = nothingAttacked;
        const after = [first.printed, JSON.stringify(targets), deadlineJob, JSON.stringify([])];
        const conclusion = check({ given: { steadyState, ...nothingAttacked }, after });
        return { conclusion, targets: conclusion.apply(() => targets) };
    }

    // The name is the one in the state: another version must not rename the objects of a run that has begun.
    const { runName, pass } = steadyState;
    const { experiment, namespace } = plan;
    const { image, programs, pod } = args;
    const deadline = new Deadline(
        `${prefix}deadline`,
        { plan, basis: steadyState, image, pod, program: programs.deadline },
        { parent, dependsOn: first.resource },
    );
    // Its uid would not do: a refresh may find that the Job is gone, and make another. That is no other run.
    const deadlineJob = deadline.job.metadata.name;
    // It depends on all parts, because the Job must keep its rights while there is something to end.
    const dependsOn = deadline.parts;
    const beside = isAccompanied(plan)
        ? step("beside", {
              create: "begin-beside",
              given: { steadyState, room: room!, deadlineJob },
              after: [first.printed, deadlineJob],
              dependsOn,
          })
        : undefined;
    const accompanied = beside?.printed.apply((text) => parsed<Accompanied>(text));
    const begun = beside ? [beside.printed] : [];
    const labeling = step("targets", {
        create: "label-targets",
        given: { steadyState, room, deadlineJob },
        after: [first.printed, deadlineJob, ...begun],
        dependsOn,
    });
    const targets = labeling.printed.apply((text) => parsed<LabeledTargets>(text));
    const ofAll = { experiment, namespace, runName, pass, image, programs, pod };
    const objects = plan.attacks.map((planned) => {
        const { name, attack } = planned;
        const ofOne = {
            attack,
            object: runName.apply((run) => objectNameOf(run, name)),
            label: targetLabelFor(plan, planned),
            // A run of another plan may have failed half-way, and the update leaves out what would replace it.
            chosen: targets.apply((found) => found.attacks.find((one) => one.name === name) ?? unknown),
        };
        return attackResource(`${prefix}${name}`, { ...ofAll, ...ofOne }, { parent });
    });
    const attackObjects = pulumi.jsonStringify(objects.map(({ metadata }) => metadata.name));
    // Pulumi deletes this before the attacks' policies: pods that other policies do not select would be open. A part of
    // the check would not do: of a check that was killed, the state knows nothing.
    // It comes after these, so that another plan removes it with them, and not after the next ones have begun.
    const { resource: end } = step("end-attacks", {
        delete: "end-attacks",
        after: [labeling.printed, attackObjects],
    });
    const conclusion = check({
        given: { steadyState, targets, deadlineJob, ...(accompanied && { accompanied }) },
        after: [first.printed, labeling.printed, deadlineJob, attackObjects, ...begun],
        dependsOn: end,
    });
    return { conclusion, targets };
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

interface StepArgs<N extends StepName> {
    /** @default nothing is done */
    create?: N;
    delete?: StepName;
    given?: { [K in keyof Given<N>]: pulumi.Input<Given<N>[K]> };
    /**
     * Another one of these makes another run of the step. Versions since 0.5.0 have the same ones, in this order: the
     * state has a hash of them.
     */
    after?: pulumi.Input<string>[];
    dependsOn?: pulumi.ResourceOptions["dependsOn"];
}

/**
 * A step as a command resource. It runs again only if its plan or what it comes after has changed: another version of
 * this package, another folder or another kubeconfig only updates the state. Its standard output is its result, as
 * JSON; its progress goes to standard error.
 */
function stepResource<N extends StepName>(
    name: string,
    { plan, stack, programs, kubeconfig, prefix, parent }: RunArgs,
    { create, delete: remove, given, after = [], dependsOn }: StepArgs<N>,
): { resource: command.local.Command; printed: pulumi.Output<string> } {
    const input = pulumi.all({ stack, ...given }).apply((known) => inputVariables({ plan, ...known } as Input<N>));
    const kubeconfigText = kubeconfig && pulumi.secret(pulumi.output(kubeconfig).apply(asVariable));
    const resource = new command.local.Command(
        `${prefix}${name}`,
        {
            create: create === undefined ? doNothing : `${programs.stepCommand} ${create}`,
            // A run that holds the lease is undone where it began.
            update: remove === "recovery" ? `${runFromInput} ${printingAgain}` : printAgain,
            ...(remove && { delete: `${runFromInput} ${remove}`, stdin: programs.steps }),
            // This is one value: a preview then shows nothing of it if it does not know all.
            environment: pulumi
                .all([input, kubeconfigText])
                .apply(([known, text]) => (text ? { ...known, [variables.kubeconfig]: text } : known)),
            triggers: pulumi
                .all([
                    planToken(plan),
                    // A stack may be renamed.
                    pulumi.output(stack).apply(identityOf),
                    ...after,
                ])
                .apply((known) => [hashOf(JSON.stringify(known))]),
            logging: "stderr",
        },
        { parent, dependsOn, deleteBeforeReplace: true },
    );
    // What steps print has no secrets. With a secret in its environment, the provider takes its output for one, and
    // neither verdicts nor diffs would show.
    const printed = pulumi.all([stack, pulumi.unsecret(resource.stdout)]).apply(([, text]) => text ?? unknown);
    return { resource, printed };
}

import * as pulumi from "@pulumi/pulumi";
import type { DryRun } from "../kinds/attacks/attack-kind";
import { besides } from "../kinds/actions/registry";
import { objectNameOf } from "../kinds/attacks/registry";
import { attackDryRuns } from "../kinds/attacks/attack-resource";
import { jobObject } from "../witness/deadline";
import { labels, metadataFor } from "../cluster/labels";
import { type Plan, runNameOf } from "../definition/plan";
import { leasePreparationMs } from "../lease/lease-record";
import { type PodOptions, runPod } from "../pods/pod-options";
import type { ExperimentPrograms } from "../pods/built-programs";
import type { Room } from "../run/contract";

/** What changes the inputs of a component's resources. */
export type Transforms = Pick<pulumi.ComponentResourceOptions, "transforms" | "transformations">;

export interface RoomArgs {
    plan: Plan;
    /** As leases name it; see `holderOf`. */
    stack: pulumi.Input<string>;
    /** A Node image, for the run's own pods. */
    image: string;
    programs: ExperimentPrograms;
    pod?: PodOptions;
    /** Those of the component itself. */
    transforms?: Transforms;
    /** Begins the names of the resources. */
    prefix: string;
    parent: pulumi.Resource;
}

const types: Record<DryRun["kind"], string> = {
    Job: "kubernetes:batch/v1:Job",
    Pod: "kubernetes:core/v1:Pod",
    Service: "kubernetes:core/v1:Service",
};

/** Stands for the run's random value, which is not known yet. */
const somePass = "0".repeat(16);

/**
 * What a run will make, for a dry run of the steps that shows whether the namespace has room for it. The component's
 * own transforms are applied, since without them a dry run could abort a run that the namespace admits: an admission
 * policy may require a label of the Job or the Service, or a field that `pod` does not have. Only the engine knows the
 * transforms of the component's parents and of the stack, and only the run knows the Service of a fault.
 */
export function roomOf(args: RoomArgs): pulumi.Output<Room> {
    const { plan, image, programs, pod, prefix } = args;
    const { namespace, experiment } = plan;
    return pulumi.output(args.stack).apply((stack) => {
        const run = runNameOf(plan, stack);
        const ofAttacks = plan.attacks.flatMap(({ name, attack }) => {
            const made = { attack, experiment, namespace, image, programs, pod, run, pass: somePass };
            return attackDryRuns(`${prefix}${name}`, { ...made, object: objectNameOf(run, name) });
        });
        const ofActions = besides(plan.actions).map(({ part, action, beside }): DryRun => {
            const made = { image, programs, pod, lastsSeconds: longestSeconds(plan) };
            const metadata = besideMetadata(objectNameOf(run, part), plan, part, pod);
            return { kind: "Pod", name: `${prefix}${part}`, props: { metadata, spec: beside.podSpec(action, made) } };
        });
        const basis = { runName: run, pass: somePass, replacesAtOnce: true };
        const props = jobObject({ plan, image, program: programs.deadline, pod, ...basis });
        const job: DryRun = { kind: "Job", name: `${prefix}deadline`, props };
        const all = [job, ...ofActions, ...ofAttacks].map((one) => transformed(one, args));
        return pulumi.all(all).apply(([first, ...rest]) => {
            // The step makes these itself: without a transform that fails here.
            const pods = ofActions.map(({ kind, props }, index) => rest[index] ?? { ...props, kind });
            return {
                job: first,
                attacks: rest.slice(pods.length).filter((one) => one !== undefined),
                ...(pods.length > 0 && { besides: pods }),
            };
        });
    });
}

/** The label by which policies let a pod through has the run's random value, which the step adds. */
const besideMetadata = (name: string, plan: Plan, part: string, options?: PodOptions) => {
    const metadata = metadataFor(name, plan);
    const { labels: common, annotations } = runPod(options);
    return { ...metadata, labels: { ...common, ...metadata.labels, [labels.beside]: part }, annotations };
};

/** When what nothing else has ended ends by itself, in seconds: by then the run's deadline has passed. */
const longestSeconds = ({ deadlineMs }: Plan) => Math.ceil((leasePreparationMs + deadlineMs) / 1_000);

/**
 * Applies the component's own transforms. @returns the inputs and the kind. Undefined if a transform fails, which may
 * need something of the engine
 */
function transformed(
    { kind, name, props }: DryRun,
    { transforms: { transforms = [], transformations = [] } = {}, parent }: RoomArgs,
): pulumi.Output<object | undefined> {
    const all: pulumi.ResourceTransform[] = [
        ...transformations.map((change) => (asked: object) => change({ ...asked, resource: parent } as never)),
        ...transforms,
    ];
    const change = async (known: object | undefined, transform: pulumi.ResourceTransform) => {
        if (known === undefined) return undefined;
        try {
            const asked = { custom: true, type: types[kind], name, props: known, opts: { parent } };
            return (await transform(asked))?.props ?? known;
        } catch {
            return undefined;
        }
    };
    const inputs = all.reduce<pulumi.Output<object | undefined>>(
        (before, transform) => before.apply(async (known) => pulumi.output(await change(known, transform)) as never),
        pulumi.output<object>(props),
    );
    return inputs.apply((known) => known && { ...known, kind });
}

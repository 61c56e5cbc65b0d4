import * as pulumi from "@pulumi/pulumi";
import {
    type Cluster,
    type Conclusion,
    endRuns,
    Experiment,
    type ExperimentArgs,
    type ExperimentPrograms,
    holderOf,
    type Plan,
    type PlanArgs,
    isOfEarlierVersion,
    planOf,
    previewTargets,
    problemOf,
    type ServiceReference,
} from "../chaos";
import { productsCheck } from "./products";
import { validExperiment } from "./saved";

/** Folder of the reports, in the project. */
export const reportsFolder = "reports";

/** A stack's settings `experiment.*`, and where its shop is. */
export interface ExperimentSettings extends Omit<
    PlanArgs,
    "definition" | "defaultChecks" | "reports" | "defaultNamespace" | "service"
> {
    /** The gateway's Service, in the shop's namespace. */
    service: ServiceReference;
}

export interface RunExperimentArgs extends Omit<ExperimentArgs, "programs" | "identity"> {
    /** Bundles them: takes a moment, and only a run needs them. */
    programs: () => ExperimentPrograms;
    /** What must be ready before the experiment begins. */
    dependsOn: pulumi.ComponentResourceOptions["dependsOn"];
}

/** The plan of a run on the shop. @throws Error with all mistakes in the saved experiment, enabled or not */
export function planOnShop(settings: ExperimentSettings): Plan {
    return planOf({
        ...settings,
        definition: validExperiment(settings.name),
        defaultChecks: [productsCheck],
        defaultNamespace: settings.service.namespace,
        reports: reportsFolder,
    });
}

/** What an update knows before it reads its configuration. */
export interface FirstLook {
    /** Whether the experiment is enabled. Anything but `true` counts as disabled, and is told later. */
    enabled: boolean;
    /** Namespace of the shop. */
    namespace: string;
    /** Distinguishes the stack from others of its name. */
    identity: string;
    cluster: Cluster;
}

/**
 * The first act of an update: ends the stack's attacks if the experiment is disabled, and those of a version before
 * 0.2 in any case. Problems of the rest of the update come later: a mistake in a setting, an agent that does not
 * start, a workload that cannot become ready under the attack. The engine deletes the run's resources at the
 * update's end, and finds the attacks gone. A preview changes nothing.
 *
 * @param look what is known by then. Undefined without a cluster that the stack may touch, which is told later
 */
export async function endAttacksFirst(look: FirstLook | undefined): Promise<void> {
    if (pulumi.runtime.isDryRun() || look === undefined) return;
    const { enabled, namespace, identity, cluster } = look;
    const owner = { stack: holderOf(identity), defaultNamespace: namespace };
    try {
        const ended = await endRuns(cluster, owner, enabled ? isOfEarlierVersion : undefined);
        if (ended.length > 0) await pulumi.log.info(`Ended the attacks of ${ended.join(" and ")}`);
    } catch (error) {
        // The engine still deletes them at the end.
        await pulumi.log.warn(`Attacks could not be ended before everything else: ${problemOf(error)}`);
    }
}

/** Runs the stack's experiment on the shop. A preview says which containers it would hit. */
export async function runExperiment(
    { plan, dependsOn, programs, image }: RunExperimentArgs,
    { api, identity, opts }: { api: Cluster; identity: string; opts: pulumi.ComponentResourceOptions },
): Promise<pulumi.Output<Conclusion>> {
    const args = { plan, image, identity, programs: programs() };
    const experiment = new Experiment(plan.experiment, args, { ...opts, dependsOn });
    if (pulumi.runtime.isDryRun()) await previewTargets(plan, api);
    return experiment.conclusion;
}

import * as pulumi from "@pulumi/pulumi";
import type { Cluster } from "../chaos/cluster/client";
import {
    type Conclusion,
    Experiment,
    type ExperimentOptions,
    holderOf,
    type Plan,
    type PlanArgs,
    planOf,
    type ServiceReference,
} from "../chaos/index";
import { endAndReport } from "../chaos/first-acts";
import { productsCheck } from "./products";
import { validExperiment } from "./saved";

/** Folder of the reports, in the project. */
export const reportsFolder = "reports";

/** A stack's settings `experiment.*`, and where its shop is. */
export interface ExperimentSettings extends Omit<
    PlanArgs,
    "definition" | "defaultChecks" | "reports" | "defaultNamespace" | "service" | "settings"
> {
    /** The gateway's Service, in the shop's namespace. */
    service: ServiceReference;
}

export interface RunExperimentArgs extends Required<Pick<ExperimentOptions, "image" | "programs">> {
    plan: Plan;
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
        settings: "experiment.",
    });
}

/** What an update knows before it reads its configuration. */
export interface FirstLook {
    /** Whether the experiment is enabled. Anything but `true` counts as disabled, and is reported later. */
    enabled: boolean;
    /** Namespace of the shop. */
    namespace: string;
    /** Distinguishes the stack from others of its name. */
    identity: string;
    cluster: Cluster;
}

/**
 * The first act of an update: ends the stack's attacks if the experiment is disabled. Problems of the rest of the
 * update come later: a mistake in a setting, an agent that does not start, a workload that cannot become ready under
 * the attack. The engine deletes the run's resources at the update's end, and finds the attacks gone. A preview
 * changes nothing.
 *
 * @param look what is known by then. Undefined without a cluster that the stack may touch, which is reported later
 */
export async function endAttacksFirst(look: FirstLook | undefined): Promise<void> {
    if (pulumi.runtime.isDryRun() || look === undefined || look.enabled) return;
    const { namespace, identity, cluster } = look;
    const owner = { stack: holderOf(identity), defaultNamespace: namespace };
    await endAndReport(() => cluster, owner, { of: "the stack" });
}

/** The component's name: that of the experiment is a setting, and another one must not run beside the first. */
const componentName = "experiment";

/** Runs the stack's experiment on the shop. A preview says which containers it would hit. */
export function runExperiment(
    { dependsOn, ...args }: RunExperimentArgs,
    { identity, opts }: { identity: string; opts: pulumi.ComponentResourceOptions },
): pulumi.Output<Conclusion | undefined> {
    const { conclusion } = new Experiment(componentName, { enabled: true, identity, ...args }, { ...opts, dependsOn });
    return conclusion;
}

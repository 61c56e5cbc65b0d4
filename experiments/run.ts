import * as pulumi from "@pulumi/pulumi";
import type { Cluster } from "../chaos/cluster/client";
import {
    Experiment,
    type ExperimentArgs,
    holderOf,
    type Plan,
    type PlanArgs,
    planOf,
    type ServiceReference,
} from "../chaos/index";
import { type Patch, patched } from "../chaos/definition/patch";
import { endAndReport, warnNotEnded } from "../chaos/face/first-acts";
import { ifKnown } from "../chaos/face/stash";
import { productsCheck } from "./products";
import { reportsFolder } from "./reports-folder";
import { validExperiment } from "./saved";

/** Names another folder for the reports: what measures the shop keeps its own apart from the user's. */
export const reportsVariable = "CHAOS_SHOP_REPORTS";

/** Has the command that does a run, if that is not an update: it leaves nothing in the stack's file. */
export const commandVariable = "CHAOS_SHOP_COMMAND";

/** A stack's settings `experiment.*`, and where its shop is. */
export interface ExperimentSettings
    extends
        Omit<
            PlanArgs,
            "definition" | "defaultChecks" | "reports" | "defaultNamespace" | "service" | "settings" | "command"
        >,
        Patch {
    /** The gateway's Service, in the shop's namespace. */
    service: ServiceReference;
}

/** Settings that no plan takes. With one that is new, and no field of those, the program does not compile. */
type Unplanned<S> = Record<Exclude<keyof S, keyof ExperimentSettings | "enabled">, never>;

/** The plan of a run on the shop. @throws Error with all mistakes in the saved experiment, enabled or not */
export function planOnShop<S extends ExperimentSettings>(settings: S & Unplanned<S>): Plan {
    return planOf({
        ...settings,
        definition: patched(validExperiment(settings.name), settings),
        defaultChecks: [productsCheck],
        defaultNamespace: settings.service.namespace,
        reports: process.env[reportsVariable] ?? reportsFolder,
        settings: "experiment.",
        command: process.env[commandVariable],
    });
}

/**
 * A run of an experiment on the shop. Its resource has the same name when a setting names another experiment, which
 * must not run beside the first.
 */
export const runOnShop = (
    plan: Plan,
    { identity, provider }: { identity: pulumi.Input<string>; provider: pulumi.ProviderResource },
    args: Pick<ExperimentArgs, "image" | "pod" | "programs">,
    shopIsReady: pulumi.Input<pulumi.Resource>,
): Experiment =>
    new Experiment("experiment", { ...args, enabled: true, identity, plan }, { provider, dependsOn: shopIsReady });

/** What an update knows before it reads its configuration. */
export interface FirstLook {
    /** Whether the experiment is enabled. Anything but `true` counts as disabled, and is reported later. */
    enabled: boolean;
    namespace: string;
    /** Distinguishes the stack from others of its name. Unknown if the state has none: nothing has run then. */
    identity: pulumi.Output<string>;
    cluster: Cluster;
}

/**
 * The first act of an update: ends the stack's attacks if the experiment is disabled. Problems of the rest of the
 * update come later: a mistake in a setting, an agent that does not start, a workload that cannot become ready under
 * the attack. The engine deletes the run's resources at the update's end, and finds the attacks gone. A preview
 * changes nothing.
 *
 * @param look what is known by then. Undefined without a cluster that the stack may touch, which is reported later
 * @param planned the plan by the configuration, which is read when the attacks have ended
 */
export async function endAttacksFirst(look: FirstLook | undefined, planned: (context: string) => Plan): Promise<void> {
    if (pulumi.runtime.isDryRun() || look === undefined || look.enabled) return;
    const { namespace, cluster } = look;
    const [identity] = await ifKnown(look.identity);
    if (identity === undefined) return;
    const owner = { stack: holderOf(identity), defaultNamespace: namespace };
    const context = cluster.kubeconfig.getCurrentContext();
    const failed = (problem: string) => warnNotEnded("the stack", problem);
    await endAndReport(() => cluster, owner, { failed, planned: () => planned(context) });
}

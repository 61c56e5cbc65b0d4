import * as pulumi from "@pulumi/pulumi";
import { actionKindOf } from "./actions/registry";
import { namesOf } from "./checks/observe";
import { type ClusterAccess, connect } from "./cluster/client";
import { guardedContext, type Naming } from "./cluster/guard";
import { kubeconfigFrom, loadKubeconfig } from "./cluster/kubeconfig";
import { explain, problemOf } from "./cluster/problem";
import { type DefinedExperiment, namespaceOf, planOfArguments } from "./definition/arguments";
import { isAttack, type Plan, runNameOf } from "./definition/plan";
import { holderOf, identityIn } from "./identity";
import { endRuns } from "./lifecycle/end-runs";
import { builtPrograms, type ExperimentPrograms } from "./programs";
import type { Conclusion } from "./report/journal-schema";
import type { Verdict } from "./report/verdict";
import { runResources } from "./run";
import { previewTargets } from "./targets/preview";

/** What an experiment needs besides what it does. */
export interface ExperimentOptions {
    /**
     * Whether the experiment runs. The update that sets it runs the experiment; the next one without it ends the
     * attacks before anything else, and waits until every check is steady again.
     */
    enabled: boolean;
    /**
     * Text of a kubeconfig that reaches the provider's cluster; kept as a secret. It may be an output of the cluster's
     * resource. @default this machine's, as kubectl loads it
     */
    kubeconfig?: pulumi.Input<string>;
    /**
     * The context to use. @default the current one of `kubeconfig`; without `kubeconfig` only if it is plainly local,
     * as those of kind, minikube, k3d, Docker Desktop and Rancher Desktop are: no cluster is attacked that nobody named
     */
    context?: string;
    /**
     * An image with Node.js 20 or newer, for the deadline Job.
     * @default "docker.io/library/node:22.23.3-bookworm-slim"
     */
    image?: string;
    /** Distinguishes the stack from others of its name. @default one that the stack's state keeps */
    identity?: string;
    /** How the package's programs are run. @default as its build has left them */
    programs?: () => ExperimentPrograms;
}

/** An experiment, as a program writes it, or as a plan of `planOf`. */
export type ExperimentArgs = ExperimentOptions & (DefinedExperiment | { plan: Plan });

/** Time limit of each call, in milliseconds, of those that end attacks before everything else. */
const endTimeoutMs = 10_000;

const defaultImage = "docker.io/library/node:22.23.3-bookworm-slim";

const naming: Naming = {
    key: "context",
    name: (context) => `\`context: "${context.replace(/^'|'$/g, "")}"\` in the program`,
    local: "kind, minikube, k3d, Docker Desktop",
    what: "experiments",
};

/**
 * A chaos experiment as a part of a stack: the update that enables it attacks, proves the attack, checks, and leaves a
 * verdict; the update that disables it undoes it.
 *
 * If the component is removed from the program, Pulumi undoes the experiment when it deletes the resources, at the end
 * of the update: until then the attacks last, at most until their deadline. Disable it first.
 *
 * @throws RunError with all mistakes in the arguments, in previews too, if it is enabled
 */
export class Experiment extends pulumi.ComponentResource {
    /** The verdict and what it rests on. Known when the check has ended; undefined if the experiment is disabled. */
    readonly conclusion: pulumi.Output<Conclusion | undefined>;
    /** `PASSED`, `FAILED`, `INCONCLUSIVE`, or `disabled`. Without a steady state the update fails: `ABORTED`. */
    readonly verdict: pulumi.Output<Verdict | "disabled">;

    constructor(name: string, args: ExperimentArgs, opts?: pulumi.ComponentResourceOptions) {
        // Only a run waits for what it depends on. The end of attacks does not: under them that may never be ready.
        super("chaos-experiments:index:Experiment", name, {}, { ...opts, dependsOn: undefined });
        const { enabled, kubeconfig, image = defaultImage, identity, programs = builtPrograms } = args;
        const prefix = `${name}-`;
        const own = () => identityIn(`${prefix}identity`, undefined, { parent: this });
        const stack = pulumi.output(identity ?? own()).apply(holderOf);
        const prepared = prepare(name, args);
        if ("problem" in prepared && enabled) throw new MistakeError(prepared.problem);
        if ("problem" in prepared) void pulumi.log.warn(prepared.problem, this);

        const acts: pulumi.Output<void>[] = [];
        if (enabled && "plan" in prepared) {
            const { plan } = prepared;
            const given = kubeconfig === undefined ? undefined : guarded(kubeconfig, plan.context);
            const run = { plan, image, programs: programs(), kubeconfig: given, prefix, parent: this };
            // Its workloads could not become ready under the attack of an earlier plan.
            if (!pulumi.runtime.isDryRun()) ending.push(endEarlier(plan, given, stack));
            // Also experiments above this one that are disabled: their namespace may be this one's.
            // They know kubeconfigs, which are secret. The stack's name is not.
            const afterThose = pulumi.all([stack, pulumi.unsecret(pulumi.all(ending))]).apply(([own]) => own);
            this.conclusion = runResources({ ...run, stack: afterThose, dependsOn: opts?.dependsOn });
            if (pulumi.runtime.isDryRun()) acts.push(pulumi.output(preview(plan, given)));
        } else {
            this.conclusion = pulumi.output(undefined);
            if (!pulumi.runtime.isDryRun()) acts.push(endFirst(name, args, stack));
            ending.push(...acts);
        }
        this.verdict = this.conclusion.apply((conclusion) => conclusion?.verdict ?? ("disabled" as const));
        // The update waits for what the outputs wait for.
        this.registerOutputs({ conclusion: this.conclusion, acts: pulumi.all(acts).apply(() => undefined) });
    }
}

/** What ends the attacks that this program does not want any more: of disabled experiments, and of earlier plans. */
const ending: pulumi.Output<void>[] = [];

/** Mistakes of the person who wrote the arguments. Their message has no stack trace. */
class MistakeError extends pulumi.RunError {
    constructor(message: string) {
        super(message);
        this.stack = message;
    }
}

/** The plan, or what is wrong with the arguments, all at once. */
function prepare(name: string, args: ExperimentArgs): { plan: Plan } | { problem: string } {
    const { enabled: _, kubeconfig, context, image: __, identity: ___, programs: ____, ...rest } = args;
    const problems: string[] = [];
    const attempt = <T>(what: () => T): T | undefined => {
        try {
            return what();
        } catch (error) {
            problems.push(explain(error));
            return undefined;
        }
    };
    const named = context ?? ("plan" in rest ? rest.plan.context : undefined);
    const allowed = attempt(() => contextIn(kubeconfig, named));
    const plan = "plan" in rest ? rest.plan : attempt(() => planOfArguments(name, rest));
    if (plan === undefined || problems.length > 0) return { problem: problems.join("\n") };
    return { plan: { ...plan, context: allowed } };
}

/** The context that may be used. Undefined for the current one of a kubeconfig that is given. @throws GuardError */
function contextIn(kubeconfig: pulumi.Input<string> | undefined, context: string | undefined): string | undefined {
    if (kubeconfig === undefined) return guardedContext(loadKubeconfig(), context, naming).name;
    // Known later; see `guarded`.
    if (typeof kubeconfig !== "string") return context;
    const config = kubeconfigFrom(kubeconfig);
    return guardedContext(config, context ?? config.getCurrentContext(), naming).name;
}

/** A kubeconfig that is looked at as soon as it is known. An empty one would lead to this machine's. */
function guarded(kubeconfig: pulumi.Input<string>, context: string | undefined): pulumi.Output<string> {
    return pulumi.output(kubeconfig).apply((text) => {
        contextIn(text, context);
        return text;
    });
}

/** Tells in a preview whom the experiment would hit. */
async function preview(plan: Plan, kubeconfig: pulumi.Input<string> | undefined): Promise<void> {
    if (!isAttack(plan)) return pulumi.log.info(describeWithoutAttack(plan));
    // Undocumented, but in use by Pulumi's own packages: `apply` says nothing about what is not known yet.
    const given = pulumi.output(kubeconfig) as pulumi.Output<string | undefined> & { isKnown: Promise<boolean> };
    if (!(await given.isKnown)) {
        const targets = plan.attacks.map(({ target }) => target).join("; ");
        return pulumi.log.info(
            `${plan.experiment} would attack ${targets}; the kubeconfig is not known yet, so this preview names no pod`,
        );
    }
    const text = await new Promise<string | undefined>((resolve) => void given.apply(resolve));
    await previewTargets(plan, () => connect({ kubeconfig: text, context: plan.context }));
}

/**
 * Ends the attacks of an experiment whose plan has changed since. What fails is not told here: the engine deletes them
 * before the next run begins, and the first step of that needs the same rights.
 */
function endEarlier(
    plan: Plan,
    kubeconfig: pulumi.Output<string> | undefined,
    stack: pulumi.Output<string>,
): pulumi.Output<void> {
    const { context, namespace } = plan;
    return pulumi.all([kubeconfig, stack]).apply(async ([text, holder]) => {
        const end = async () => {
            const cluster = connect({ kubeconfig: text, context }, endTimeoutMs);
            return endRuns(cluster, { stack: holder, defaultNamespace: namespace }, runNameOf(plan));
        };
        const ended = await end().catch(() => []);
        if (ended.length > 0) await pulumi.log.info(`Ended the attacks of ${ended.join(" and ")}`);
    });
}

function describeWithoutAttack({ experiment, namespace, actions, checks }: Plan): string {
    const done = actions.map((action) => actionKindOf(action).describe(action)).join(", ");
    const nothing = `${experiment} would attack nothing`;
    if (done === "") return `${nothing}, and only check ${namesOf({ checks })}`;
    return `${nothing}; in namespace ${namespace} it would ${done}, while it checks ${namesOf({ checks })}`;
}

/** Ends the attacks of a disabled experiment. What fails is told: the engine still deletes them at the end. */
function endFirst(name: string, args: ExperimentArgs, stack: pulumi.Output<string>): pulumi.Output<void> {
    const plan = "plan" in args ? args.plan : undefined;
    const context = args.context ?? plan?.context;
    const namespace = plan?.namespace ?? ("plan" in args ? undefined : namespaceOf(args)) ?? "default";
    return pulumi.all([args.kubeconfig, stack]).apply(async ([text, holder]) => {
        try {
            const access: ClusterAccess = { kubeconfig: text, context: contextIn(text, context) };
            const cluster = connect(access, endTimeoutMs);
            const ended = await endRuns(cluster, { stack: holder, defaultNamespace: namespace });
            if (ended.length > 0) await pulumi.log.info(`Ended the attacks of ${ended.join(" and ")}`);
        } catch (error) {
            await pulumi.log.warn(`The attacks of ${name} could not be ended first: ${problemOf(error)}`);
        }
    });
}

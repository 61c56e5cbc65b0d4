import * as pulumi from "@pulumi/pulumi";
import { connect } from "./cluster/client";
import { guardedContext, type Naming } from "./cluster/guard";
import { kubeconfigFrom, loadKubeconfig } from "./cluster/kubeconfig";
import { nodeImage } from "./cluster/pod-security";
import { explain } from "./cluster/problem";
import { type DefinedExperiment, namespaceOf, planOfArguments } from "./definition/arguments";
import { inputsOf } from "./definition/inputs";
import { type Plan, runNameOf } from "./definition/plan";
import { podMistakes } from "./definition/pod-mistakes";
import { endRun, isLost } from "./ending/end-run";
import { endAndReport, type FirstActs, firstActs } from "./first-acts";
import { othersOfStack } from "./lifecycle/lease";
import type { PodOptions } from "./pod-options";
import { holderOf, identityIfKept, notKept } from "./stash";
import { builtPrograms, type ExperimentPrograms } from "./programs";
import { requireNoSecrets } from "./secret-settings";
import type { Conclusion } from "./report/conclusion";
import type { Verdict } from "./report/verdict";
import { runResources } from "./run";
import { asVariable, maxVariableLength } from "./steps/variable";
import { preview } from "./preview";
import { describeValue, isOutput } from "./texts";

/** What an experiment needs besides what it does. */
export interface ExperimentOptions {
    /**
     * Whether the experiment runs. The update that sets it runs the experiment; the next one without it first ends
     * what is left of the attacks, and waits until every check holds again.
     */
    enabled: boolean;
    /**
     * Text of a kubeconfig that reaches the provider's cluster, kept as a secret. It may be an output of the cluster's
     * resource. @default this machine's, as kubectl loads it
     */
    kubeconfig?: pulumi.Input<string>;
    /**
     * A context of the kubeconfig. @default the current one of `kubeconfig`; without `kubeconfig` only if it is plainly
     * local, as those of kind, minikube, k3d, Docker Desktop and Rancher Desktop are
     */
    context?: string;
    /**
     * An image with Node.js 20 or newer, for the pods that the experiment makes for itself.
     * @default "docker.io/library/node:22.23.3-bookworm-slim"
     */
    image?: string;
    /** What is set on the pods that the experiment makes for itself, beside their own. @default nothing */
    pod?: PodOptions;
    /** Distinguishes the stack from others of its name. @default one that the stack's state keeps @internal */
    identity?: string;
    /** How the package's programs are run. @default as its build has left them @internal */
    programs?: () => ExperimentPrograms;
}

/** An experiment, as a program writes it, or as a plan of `planOf`. */
export type ExperimentArgs = ExperimentOptions & (DefinedExperiment | { plan: Plan });

/** Time limit of each call, in milliseconds, of those that end attacks before everything else. */
const endTimeoutMs = 10_000;

const naming: Naming = {
    key: "context",
    named: (context) => ({ code: `context: ${JSON.stringify(context)}`, where: "in the program" }),
    local: "kind, minikube, k3d, Docker Desktop",
    what: "experiments",
};

/**
 * A chaos experiment as a part of a stack: the update that enables it attacks, proves the attack, checks, and leaves a
 * verdict; the update that disables it undoes it.
 *
 * If the component is removed from the program, Pulumi undoes the experiment when it deletes the resources, at the end
 * of the update: until then what `until: "disabled"` keeps lasts, at most until its deadline. Disable it first.
 *
 * Mistakes in the arguments of an enabled experiment fail the update, and its preview, by rejected outputs, all of a
 * program's experiments at once. None of them begins then, and those that are disabled end their attacks nevertheless.
 */
export class Experiment extends pulumi.ComponentResource {
    /** The verdict and what it rests on. Known when the check has ended; undefined if the experiment is disabled. */
    readonly conclusion: pulumi.Output<Conclusion | undefined>;
    /** `PASSED`, `FAILED`, `INCONCLUSIVE`, or `disabled`. Without a steady state the update fails: `ABORTED`. */
    readonly verdict: pulumi.Output<Verdict | "disabled">;

    constructor(name: string, args: ExperimentArgs, opts?: pulumi.ComponentResourceOptions) {
        const prepared = prepare(name, args);
        // The preview that enables an experiment shows all that it does.
        const inputs = args.enabled === true && "plan" in prepared ? inputsOf(prepared.plan) : {};
        super("chaos-experiments:index:Experiment", name, inputs, {
            ...opts,
            // Only a run waits for what it depends on. The end of attacks does not: under them that may never be ready.
            dependsOn: undefined,
            // What protects a parent would keep its attacks: an experiment's resources are there for minutes.
            protect: false,
            retainOnDelete: false,
        });
        const { enabled, kubeconfig, image = nodeImage, pod, identity, programs = builtPrograms } = args;
        const prefix = `${name}-`;
        const own = pulumi.output(identity ?? identityIfKept(`${prefix}identity`, { parent: this }));
        const first = firstActs().add("plan" in args ? args.plan.experiment : name);
        const shared = identity === undefined ? undefined : first.mistakeInIdentity(name, identity);

        const acts: pulumi.Output<void>[] = [];
        // Only `true` attacks. Types prevent none: the text "false" of a configuration is no boolean.
        if (enabled !== true) {
            if ("problem" in prepared) void pulumi.log.warn(prepared.problem, this);
            const mistake = mistakeInEnabled(name, enabled) ?? shared;
            this.conclusion = pulumi.output(mistake === undefined ? undefined : first.refuse(mistake));
            if (!pulumi.runtime.isDryRun()) {
                const ending = endFirst(name, args, own, "plan" in prepared ? prepared.plan : undefined);
                first.end(ending);
                acts.push(ending);
            }
        } else if ("problem" in prepared || shared !== undefined) {
            const problem = "problem" in prepared ? prepared.problem : shared!;
            this.conclusion = pulumi.output(first.refuse(problem));
        } else {
            const { plan } = prepared;
            const stack = own.apply((known) => {
                if (known === undefined) throw notKept("identity");
                return holderOf(known);
            });
            const given = kubeconfig === undefined ? undefined : guarded(kubeconfig, plan.context, first);
            const made = { plan, image, pod, programs: programs(), transforms: opts };
            const run = { ...made, kubeconfig: given, prefix, parent: this };
            // Its workloads could not become ready under the attack of an earlier plan.
            if (!pulumi.runtime.isDryRun()) first.endEarlier(endEarlier(plan, given, stack));
            const { conclusion, targets } = runResources({
                ...run,
                stack: first.before(stack),
                dependsOn: opts?.dependsOn,
            });
            this.conclusion = conclusion;
            if (pulumi.runtime.isDryRun()) acts.push(pulumi.output(preview(plan, given, { conclusion, targets })));
        }
        this.verdict = this.conclusion.apply((conclusion) => conclusion?.verdict ?? ("disabled" as const));
        // The update waits for what the outputs wait for.
        this.registerOutputs({ conclusion: this.conclusion, acts: pulumi.all(acts).apply(() => undefined) });
    }
}

/** Undefined counts as false. */
function mistakeInEnabled(name: string, enabled: unknown): string | undefined {
    if (enabled === false || enabled === undefined) return undefined;
    return (
        `the experiment ${name} has a mistake:\n  enabled: is ${describeValue(enabled)}; allowed: true or false, ` +
        'such as config.getBoolean("chaos") ?? false'
    );
}

/** The plan, or what is wrong with the arguments, all at once. */
function prepare(name: string, args: ExperimentArgs): { plan: Plan } | { problem: string } {
    const { enabled: _, kubeconfig, context, image, pod, identity: __, programs: ___, ...rest } = args;
    const problems: string[] = [];
    const attempt = <T>(what: () => T): T | undefined => {
        try {
            return what();
        } catch (error) {
            problems.push(explain(error));
            return undefined;
        }
    };
    attempt(() => requireImage(image));
    problems.push(...podMistakes(pod));
    const named = context ?? ("plan" in rest ? rest.plan.context : undefined);
    const allowed = attempt(() => contextIn(kubeconfig, named));
    const plan = "plan" in rest ? rest.plan : attempt(() => planOfArguments(name, rest));
    if (plan) attempt(() => requireNoSecrets(name, plan));
    if (plan === undefined || problems.length > 0) return { problem: problems.join("\n") };
    return { plan: { ...plan, context: allowed } };
}

/** The context that may be used. Undefined for the current one of a kubeconfig that is given. @throws GuardError */
function contextIn(kubeconfig: pulumi.Input<string> | undefined, context: string | undefined): string | undefined {
    // Types prevent none.
    if (context !== undefined && typeof context !== "string")
        throw new Error(`context: is ${describeValue(context)}; allowed: text`);
    if (kubeconfig === undefined) return guardedContext(loadKubeconfig(), context, naming).name;
    // Known later; see `guarded`.
    if (isOutput(kubeconfig)) return context;
    requireText(kubeconfig);
    const config = kubeconfigFrom(kubeconfig);
    requireShort(kubeconfig);
    return guardedContext(config, context ?? config.getCurrentContext(), naming).name;
}

/** An object may hold a token: it is not shown. @throws Error if a kubeconfig that is known is no text */
function requireText(kubeconfig: unknown): asserts kubeconfig is string {
    if (typeof kubeconfig === "string") return;
    const isObject = typeof kubeconfig === "object" && kubeconfig !== null;
    throw new Error(
        `kubeconfig: is ${isObject ? "an object" : describeValue(kubeconfig)}; allowed: text, such as ` +
            "pulumi.jsonStringify(cluster.kubeconfig) of an output that is an object",
    );
}

function requireImage(image: unknown): void {
    if (image === undefined || (typeof image === "string" && /^[\w.\-:/@]+$/.test(image))) return;
    throw new Error(`image: ${describeValue(image)} is not allowed; allowed: the name of an image, as in a pod`);
}

/** @throws Error if no step could be given a kubeconfig */
function requireShort(kubeconfig: string): void {
    const { length } = asVariable(kubeconfig);
    if (length <= maxVariableLength) return;
    throw new Error(
        `the given kubeconfig takes ${length} bytes, compressed, and ${maxVariableLength} are possible; give only ` +
            "the context that the experiment needs: kubectl config view --minify --flatten --context NAME",
    );
}

/** A kubeconfig that is looked at as soon as it is known. An empty one would lead to this machine's. */
function guarded(
    kubeconfig: pulumi.Input<string>,
    context: string | undefined,
    first: FirstActs,
): pulumi.Output<string> {
    return pulumi.output(kubeconfig).apply(async (text) => {
        try {
            requireText(text);
            contextIn(text, context);
            return text;
        } catch (error) {
            return first.refuse(explain(error));
        }
    });
}

/**
 * Ends the attacks of an experiment whose plan has changed since, or of which only a part is left. A failure is not
 * reported here: the engine deletes them before the next run begins, and the first step of that needs the same rights.
 *
 * @returns the other experiments that the stack runs, as far as that is known; see `FirstActs.before`
 */
function endEarlier(
    plan: Plan,
    kubeconfig: pulumi.Output<string> | undefined,
    stack: pulumi.Output<string>,
): pulumi.Output<string[]> {
    const { context, namespace } = plan;
    return pulumi.all([kubeconfig, stack]).apply(async ([text, holder]) => {
        // A kubeconfig may be one that cannot be used.
        const cluster = async () => connect({ kubeconfig: text, context }, endTimeoutMs);
        const owner = { stack: holder, defaultNamespace: namespace };
        const [others, wasLost] = await Promise.all([
            cluster()
                .then((there) => othersOfStack(there, owner))
                .catch(() => []),
            cluster()
                .then(async (there) => {
                    const run = { stack: holder, plan };
                    const isOver = await isLost(there, run);
                    if (isOver) await endRun(there, run, { inBackground: true });
                    return isOver;
                })
                .catch(() => false),
            endAndReport(cluster, owner, { but: runNameOf(plan, holder) }),
        ]);
        if (wasLost) await pulumi.log.info(`The attack of ${plan.experiment} was over: ended what was left of it`);
        return others;
    });
}

/** @param identity undefined if the state keeps none: nothing has run under it */
function endFirst(
    name: string,
    args: ExperimentArgs,
    identity: pulumi.Output<string | undefined>,
    prepared: Plan | undefined,
): pulumi.Output<void> {
    const plan = "plan" in args ? args.plan : undefined;
    const context = args.context ?? plan?.context;
    const namespace = plan?.namespace ?? ("plan" in args ? undefined : namespaceOf(args)) ?? "default";
    return pulumi.all([args.kubeconfig, identity]).apply(async ([text, own]) => {
        if (own === undefined) return;
        const cluster = () => {
            if (args.kubeconfig !== undefined) requireText(text);
            return connect({ kubeconfig: text, context: contextIn(text, context) }, endTimeoutMs);
        };
        await endAndReport(
            cluster,
            { stack: holderOf(own), defaultNamespace: namespace },
            { of: name, planned: () => prepared },
        );
    });
}

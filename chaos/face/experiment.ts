import * as pulumi from "@pulumi/pulumi";
import { randomUUID } from "node:crypto";
import { connect } from "../cluster/client";
import { guardedContext, type Naming } from "../cluster/guard";
import { kubeconfigFrom, loadKubeconfig } from "../cluster/kubeconfig";
import { nodeImage } from "../pods/pod-security";
import { explain } from "../cluster/problem";
import { type DefinedExperiment, namespaceOf, planOfArguments } from "../definition/arguments";
import { describeMistakes } from "../definition/definition";
import { inputsOf } from "../definition/inputs";
import { type Plan, planToken, runNameOf } from "../definition/plan";
import { podMistakes } from "../definition/pod-mistakes";
import { endRun, isLost } from "../ending/end-run";
import { endAndReport, type FirstActs, firstActs, warnNotEnded } from "./first-acts";
import { othersOfStack } from "../lease/lease";
import type { PodOptions } from "../pods/pod-options";
import { holderOf, ifKnown, type InState, keep, type Kept, unknown } from "./stash";
import { builtPrograms, type ExperimentPrograms } from "../pods/built-programs";
import { requireNoSecrets } from "./secret-settings";
import type { Conclusion } from "../report/conclusion";
import type { Verdict } from "../report/verdict";
import { conclusionInState, runResources } from "./run-resources";
import { type Asked, askedOf, askedOfPreview, type AskedRun, experimentType } from "../run/asked-run";
import { asVariable, maxVariableLength } from "../run/contract";
import { preview } from "./preview";
import { describeValue, isOutput } from "../values/texts";
import { UserError } from "../values/user-error";

/** What an experiment needs besides what it does. */
export interface ExperimentOptions {
    /** Whether the experiment runs: the update that sets it runs it, the one that unsets it undoes it. */
    enabled: boolean;
    /**
     * Text of a kubeconfig of the provider's cluster, kept as a secret. It may be an output.
     * @default this machine's, as kubectl loads it
     */
    kubeconfig?: pulumi.Input<string>;
    /** A context of the kubeconfig. @default the current one; without `kubeconfig` only if it is plainly local */
    context?: string;
    /**
     * An image with Node.js 20 or newer, for the run's own pods.
     * @default "docker.io/library/node:22.23.3-bookworm-slim"
     */
    image?: string;
    /** What is set on the run's own pods. */
    pod?: PodOptions;
    /** Distinguishes the stack from others of its name. @default one that the stack's state keeps @internal */
    identity?: pulumi.Input<string>;
    /** How the package's programs are run. @default as its build has left them @internal */
    programs?: () => ExperimentPrograms;
}

/** An experiment, as a program writes it, or as a plan of `planOf`. */
export type ExperimentArgs = ExperimentOptions & (DefinedExperiment | { plan: Plan });

/** What a plugin gives besides: what the program's experiments share, and mistakes that it has found. */
interface InPlugin {
    inPlugin?: { acts: FirstActs; mistakes: readonly string[] };
}

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
    /** The verdict and what it rests on. Known when the check has ended. Undefined if `disabled` or `left out`. */
    readonly conclusion: pulumi.Output<Conclusion | undefined>;
    /**
     * `PASSED`, `FAILED`, `INCONCLUSIVE`, or `disabled`. Without a steady state the update fails: `ABORTED`. `left out`
     * if `--target` or `--exclude` leaves the experiment out of the update, and it had no verdict before.
     */
    readonly verdict: pulumi.Output<Verdict | "disabled" | "left out">;
    /** What the update waits for, besides. @internal */
    readonly acts: pulumi.Output<void>;

    constructor(name: string, given: ExperimentArgs, opts?: pulumi.ComponentResourceOptions) {
        const asked = askedOf(name);
        const args = asked ? asAsked(given, asked) : given;
        const prepared = prepare(name, args);
        // The preview that enables an experiment shows all that it does.
        const inputs = args.enabled === true && "plan" in prepared ? inputsOf(prepared.plan) : {};
        if (asked && pulumi.runtime.isDryRun() && "plan" in prepared)
            Object.assign(inputs, { asked: askedPreview(prepared.plan, args.kubeconfig) });
        super(experimentType, name, inputs, {
            ...opts,
            // Only a run waits for what it depends on. The end of attacks does not: under them that may never be ready.
            dependsOn: undefined,
            // What protects a parent would keep its attacks: an experiment's resources are there for minutes.
            protect: false,
            retainOnDelete: false,
            // Its parts inherit it: the engine would delete them from the state, and end no attack.
            deletedWith: undefined,
        });
        const { enabled, kubeconfig, image = nodeImage, pod, identity, programs = builtPrograms } = args;
        const { inPlugin } = args as ExperimentArgs & InPlugin;
        const prefix = `${name}-`;
        const isPreview = pulumi.runtime.isDryRun();
        const first = (inPlugin?.acts ?? firstActs()).add(name, "plan" in args ? args.plan.experiment : name);
        const shared = typeof identity === "string" ? first.mistakeInIdentity(name, identity) : undefined;
        const problem = "problem" in prepared ? prepared.problem : undefined;
        // Only `true` attacks. A JavaScript caller may pass another type, such as the text "false" of a configuration.
        const inEnabled = mistakeInEnabled(name, enabled);
        const mistake = inEnabled ?? (enabled === true ? problem : undefined) ?? shared;
        // For an enabled experiment the state is not read: what is wanted follows from its settings.
        const inState = enabled === true ? Promise.resolve({ hasRun: true }) : first.inState(name);
        const kept = keep(`${prefix}identity`, wantedOf(args, prepared, mistake, inState), { parent: this });
        const own = identity === undefined ? kept.identity : pulumi.output(identity);

        const acts: pulumi.Input<void>[] = [];
        if (enabled !== true) {
            if (problem !== undefined) void pulumi.log.warn(problem, this);
            if (!isPreview) {
                // If the update leaves the experiment out, a mistake in `enabled` does not end its attacks.
                const mayEnd = inEnabled === undefined || kept.isLeftOut.then((isLeftOut) => !isLeftOut);
                const plan = "plan" in prepared ? prepared.plan : undefined;
                const ending = endFirst(name, args, { ...kept, own, mayEnd, inState, plan });
                first.end(ending);
                acts.push(ending.apply(refuseIfAny));
            }
        } else acts.push(sayLeftOut(name, kept));
        if (mistake !== undefined) {
            const refused = first.refuse(mistake, kept.isLeftOut);
            this.conclusion = pulumi.output(refused.then(() => conclusionInState(prefix, this)));
        } else if (enabled !== true || "problem" in prepared) this.conclusion = pulumi.output(undefined);
        else {
            const { plan } = prepared;
            const given =
                kubeconfig === undefined ? undefined : guarded(name, kubeconfig, plan.context, { first, ...kept });
            const stack = pulumi
                .all([own, kept.isLeftOut])
                .apply(([known, isLeftOut]) => (isLeftOut ? unknown : holderOf(known)));
            const made = { plan, image, pod, programs: programs(), transforms: opts };
            const run = { ...made, kubeconfig: given, prefix, parent: this };
            // Its workloads could not become ready under the attack of an earlier plan.
            if (!isPreview) {
                const end = async () => ((await kept.isLeftOut) ? [] : endEarlier(plan, given, stack));
                first.endEarlier(pulumi.output(end()));
            }
            const { conclusion, targets } = runResources({
                ...run,
                stack: first.before(stack),
                dependsOn: opts?.dependsOn,
            });
            this.conclusion = conclusion;
            if (isPreview) {
                const show = async () =>
                    (await kept.isLeftOut) ? undefined : preview(plan, given, { conclusion, targets });
                acts.push(show());
            }
        }
        const without = enabled === true ? "left out" : "disabled";
        this.verdict = this.conclusion.apply((conclusion) => conclusion?.verdict ?? without);
        // The update waits for what the outputs wait for. Waiting for a secret kubeconfig makes no secret of that.
        this.acts = pulumi.unsecret(pulumi.all(acts).apply(() => undefined));
        this.registerOutputs({ conclusion: this.conclusion, acts: this.acts });
    }
}

/** The arguments, with what is asked instead of what the program says. */
function asAsked(args: ExperimentArgs, { enabled, run }: AskedRun): ExperimentArgs {
    return "plan" in args ? { ...args, enabled, plan: { ...args.plan, run } } : { ...args, enabled, run };
}

async function askedPreview(plan: Plan, kubeconfig: pulumi.Input<string> | undefined): Promise<Asked> {
    const [text] = kubeconfig === undefined ? [] : await ifKnown(pulumi.output(kubeconfig));
    const isKnown = kubeconfig === undefined || text !== undefined;
    const reach = () => (isKnown ? connect({ kubeconfig: text, context: plan.context }, endTimeoutMs) : undefined);
    return askedOfPreview(plan, reach);
}

/**
 * What distinguishes the settings of an experiment from those that the state has. No state has what is wanted of one
 * with a mistake: its update fails, and another that leaves the experiment out must not.
 */
function wantedOf(
    { enabled }: ExperimentArgs,
    prepared: Prepared,
    mistake: string | undefined,
    inState: Promise<InState>,
): string | Promise<string> {
    if (mistake !== undefined) return randomUUID();
    if (enabled === true && "plan" in prepared) return planToken(prepared.plan);
    // An upgrade with a disabled experiment shows no change: earlier versions had another value.
    return inState.then(({ hasRun, wanted }) => (!hasRun && typeof wanted === "string" ? wanted : "nothing"));
}

async function sayLeftOut(name: string, { isLeftOut }: Kept): Promise<void> {
    if (!(await isLeftOut)) return;
    await pulumi.log.warn(
        `--target or --exclude leaves the experiment ${name} out of this update: it does not run, and what it has ` +
            "done stays as it is",
    );
}

/** Undefined counts as false. */
function mistakeInEnabled(name: string, enabled: unknown): string | undefined {
    if (enabled === undefined || typeof enabled === "boolean") return undefined;
    return (
        `the experiment ${name} has a mistake:\n  enabled: is ${describeValue(enabled)}; allowed: true or false, ` +
        'such as config.getBoolean("chaos") ?? false'
    );
}

function refuseIfAny(mistake: string | undefined): void {
    if (mistake !== undefined) throw new UserError(mistake);
}

type Prepared = { plan: Plan } | { problem: string };

/** The plan, or what is wrong with the arguments, all at once. */
function prepare(name: string, args: ExperimentArgs & InPlugin): Prepared {
    const { enabled, kubeconfig, context, image, pod, identity: _, programs: __, inPlugin, ...rest } = args;
    const problems: string[] = [];
    if (inPlugin && inPlugin.mistakes.length > 0)
        problems.push(`the experiment ${name} has ${describeMistakes(inPlugin.mistakes)}`);
    const attempt = <T>(what: () => T, describe = (problem: string) => problem): T | undefined => {
        try {
            return what();
        } catch (error) {
            problems.push(describe(explain(error)));
            return undefined;
        }
    };
    const ofIt = (problem: string) => problemIn(name, problem);
    attempt(() => requireImage(image), ofIt);
    problems.push(...podMistakes(pod).map(ofIt));
    const named = context ?? ("plan" in rest ? rest.plan.context : undefined);
    // A disabled experiment may have a cluster that nobody has named: it touches none, unless it has run.
    const isOff = enabled === undefined || enabled === false;
    const allowed = isOff ? named : attempt(() => contextIn(kubeconfig, named), ofIt);
    const plan = "plan" in rest ? rest.plan : attempt(() => planOfArguments(name, rest));
    if (plan) attempt(() => requireNoSecrets(name, plan));
    if (plan === undefined || problems.length > 0) return { problem: problems.join("\n") };
    return { plan: { ...plan, context: allowed } };
}

/** A program may have several experiments with the same mistake. */
const problemIn = (name: string, problem: string) => `the experiment ${name}: ${problem}`;

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
    name: string,
    kubeconfig: pulumi.Input<string>,
    context: string | undefined,
    { first, isLeftOut }: Pick<Kept, "isLeftOut"> & { first: FirstActs },
): pulumi.Output<string> {
    return pulumi.output(kubeconfig).apply(async (text) => {
        try {
            requireText(text);
            contextIn(text, context);
            return text;
        } catch (error) {
            await first.refuse(problemIn(name, explain(error)), isLeftOut);
            return unknown;
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
        if (wasLost)
            await pulumi.log.info(
                `The attack of ${plan.experiment} was over, or had nothing to end it: ended what was left of it`,
            );
        return others;
    });
}

interface Ending {
    /** The experiment's identity, where `inState` has none. Unknown if nothing has run under it. */
    own: pulumi.Output<string>;
    mayEnd: boolean | Promise<boolean>;
    inState: Promise<InState>;
    isLeftOut: Promise<boolean>;
    /** The plan that the program has. Undefined if it has a mistake. */
    plan: Plan | undefined;
}

/**
 * Ends the attacks of a disabled experiment. If it cannot, the engine deletes them at the end of the update, with the
 * kubeconfig of their run: failing before would keep it from that.
 *
 * @returns what fails the update, if that leaves out what the engine would delete
 */
function endFirst(
    name: string,
    args: ExperimentArgs,
    { own, mayEnd, inState, isLeftOut, plan: prepared }: Ending,
): pulumi.Output<string | undefined> {
    const plan = "plan" in args ? args.plan : undefined;
    const context = args.context ?? plan?.context;
    const namespace = plan?.namespace ?? ("plan" in args ? undefined : namespaceOf(args)) ?? "default";
    const known = inState.then(async ({ identity }) => (identity === undefined ? ifKnown(own) : [identity]));
    return pulumi.all([args.kubeconfig, mayEnd, known]).apply(async ([text, may, [identity]]) => {
        if (!may || identity === undefined) return undefined;
        let unended: string | undefined;
        const failed = async (problem: string) => {
            // What has never run has nothing to end.
            if (!(await inState).hasRun) return;
            await warnNotEnded(name, problem);
            if (await isLeftOut)
                unended =
                    `The attacks of ${name} were not ended, and --target or --exclude keeps this update from ` +
                    "deleting them";
        };
        const cluster = () => {
            if (args.kubeconfig !== undefined) requireText(text);
            return connect({ kubeconfig: text, context: contextIn(text, context) }, endTimeoutMs);
        };
        await endAndReport(
            cluster,
            { stack: holderOf(identity), defaultNamespace: namespace },
            { failed, planned: () => prepared },
        );
        return unended;
    });
}

import * as pulumi from "@pulumi/pulumi";
import { createHash } from "node:crypto";
import { identityOf } from "../definition/plan";
import { inputFrom } from "../run/contract";

/**
 * Keeps a value in the stack's state: the first one that it was given, until the resource is replaced. The engine
 * answers from the state, even in previews, so a program knows the value before it creates anything in a cluster.
 * @throws Error if an update with `--target` leaves out the resource, and the state does not have it yet
 */
export async function remember<T>(
    name: string,
    value: T,
    opts?: pulumi.CustomResourceOptions,
): Promise<{ first: T; urn: string }> {
    const { output, urn } = new pulumi.Stash(name, { input: value }, opts);
    const [[first], [ofStash]] = await Promise.all([ifKnown(output), ifKnown(urn)]);
    if (first === undefined) throw notKept(name);
    return { first: first as T, urn: ofStash! };
}

export const notKept = (name: string) =>
    new Error(`the state does not know the stack's ${name} yet: update the stack once without --target`);

/** These are not documented, but Pulumi's own packages use them: `apply` does not say that something is not known. */
interface Facts {
    isKnown: Promise<boolean>;
    isSecret: Promise<boolean>;
    allResources(): Promise<Set<pulumi.Resource>>;
}

/** The value of an output, in a list that is empty if the engine does not know it. */
export async function ifKnown<T>(output: pulumi.Output<T>): Promise<[] | [T]> {
    if (!(await (output as unknown as Facts).isKnown)) return [];
    return new Promise((resolve) => void output.apply((value) => resolve([value])));
}

/** The value of an output that is no secret and comes from no resource, in such a list. */
export async function ifMade(output: pulumi.Output<unknown>): Promise<unknown[]> {
    const facts = output as unknown as Facts;
    const isOther = (await facts.isSecret) || (await facts.allResources()).size > 0;
    return isOther ? [] : ifKnown(output);
}

/** A value for an output that is not to be known, such as in a preview. `apply` does nothing with it. */
export const unknown = pulumi.unknown as never;

export interface Kept {
    /**
     * 16 hexadecimal digits, since two backends may have stacks of the same name. Unknown until the resource is
     * created.
     */
    identity: pulumi.Output<string>;
    /**
     * Whether `--target` or `--exclude` keeps this update from what the settings ask for. False also if the experiment
     * is left out but its settings have not changed, because then there is nothing to do.
     */
    isLeftOut: Promise<boolean>;
}

/**
 * Keeps an experiment's identity, and what was last wanted of it. The engine does not say to what an update is limited,
 * but it answers from the state for a resource that an update leaves out: with what was wanted before, or without an id
 * if it has not created the resource.
 * @param wanted differs for other settings. The same in a preview and its update, because a plan compares it
 */
export function keep(name: string, wanted: string | Promise<string>, opts?: pulumi.CustomResourceOptions): Kept {
    const { id, input, output } = new pulumi.Stash(name, { input: wanted }, opts);
    const isLeftOut = async () => {
        const [[answered], made] = await Promise.all([ifKnown(input), ifKnown(id)]);
        return answered !== (await wanted) || (made.length === 0 && !pulumi.runtime.isDryRun());
    };
    const asked = isLeftOut();
    // Callers get the error, too.
    asked.catch(() => undefined);
    return { identity: pulumi.all([id, output]).apply(identityFrom), isLeftOut: asked };
}

/** The engine chooses the id at random. Versions until 0.6 kept a random value, which stays. */
const identityFrom = ([id, first]: [string, unknown]): string =>
    typeof first === "string" && /^[0-9a-f]{16}$/.test(first)
        ? first
        : createHash("sha256").update(id).digest("hex").slice(0, 16);

/** The identity of a stack, which its state keeps under a name; see `Kept`. */
export function identityIn(name: string): pulumi.Output<string> {
    const { id, output } = new pulumi.Stash(name, { input: name }, { ignoreChanges: ["input"] });
    return pulumi.all([id, output]).apply(identityFrom);
}

export interface InState {
    hasRun: boolean;
    /** What was last wanted of it. */
    wanted?: unknown;
    /**
     * What the experiment has run under; see `Kept.identity`, which is known only when the component's parent is. Under
     * an attack that may be never. Undefined if the state does not say, or has several experiments of the name.
     */
    identity?: string;
}

export type ResourcesInState = Record<string, { outputs?: { input?: unknown; environment?: NodeJS.ProcessEnv } }>;

/**
 * All resources in the state when the update began, by a function of the engine's own provider that the SDK for Node.js
 * does not wrap. Undefined if the engine does not say.
 */
export async function resourcesInState(): Promise<ResourcesInState | undefined> {
    try {
        // Engines until 3.232 do not tell a plugin the organization.
        const stackName = [pulumi.getOrganization(), pulumi.getProject(), pulumi.getStack()].join("/");
        const answer: unknown = await pulumi.runtime.invoke("pulumi:pulumi:readStackResourceOutputs", { stackName });
        return (answer as { outputs: ResourcesInState }).outputs;
    } catch {
        return undefined;
    }
}

/** @param resources without them a run is assumed, so that its attacks are ended */
export function experimentInState(resources: ResourcesInState | undefined, name: string): InState {
    if (resources === undefined) return { hasRun: true };
    const called = (part: string) =>
        Object.entries(resources)
            .filter(([urn]) => urn.endsWith(`chaos-experiments:index:Experiment$${part}`))
            .map(([, { outputs }]) => outputs);
    const runs = called(`command:local:Command::${name}-steady-state`);
    const [kept] = called(`pulumi:index:Stash::${name}-identity`);
    return {
        hasRun: runs.length > 0,
        wanted: kept?.input,
        identity: runs.length === 1 ? identityOfRun(runs[0]?.environment) : undefined,
    };
}

/** The names of the experiments that have run. None are known without the resources. */
export const haveRunIn = (resources: ResourcesInState = {}): string[] =>
    Object.keys(resources).flatMap(
        (urn) => /:Experiment\$command:local:Command::(.*)-steady-state$/.exec(urn)?.[1] ?? [],
    );

/** @param environment of one of its steps */
function identityOfRun(environment: NodeJS.ProcessEnv | undefined): string | undefined {
    try {
        return identityOf(inputFrom<"steady-state">(environment!).stack);
    } catch {
        // Another version has run it.
        return undefined;
    }
}

/** A stack, as leases name it. @param identity tells it from others of its name */
export const holderOf = (identity: string): string => `${pulumi.getStack()}/${identity}`;

import * as z from "zod";
import type { Cluster } from "../../cluster/client";
import { isProtected } from "../../cluster/labels";
import { problemOf } from "../../cluster/problem";
import { type NamedObject, changedOf, type ObjectReference } from "../../cluster/resources";
import { describeMilliseconds } from "../../values/duration";
import { pause } from "../../values/async";
import { reason, type Reason, ReasonError } from "../../values/reasons";
import { few, maxNamed } from "../../values/quoted";
import { instant } from "../../values/texts";
import type { ActionContext } from "./action-kind";
import { type Action, actionKindOf, inTurn } from "./registry";
import { type FoundWorkload, referenceTo, type Workload } from "../../cluster/workload";

/** Whether some actions change anything in the cluster, or go on beside the run. */
export const changeObjects = (actions: readonly Action[]): boolean =>
    actions
        .map(actionKindOf)
        .some((kind) => kind.workload !== undefined || kind.restores !== undefined || kind.beside !== undefined);

/** An action that certainly removes, replaces or adds pods of its workload. */
export interface PodsChanging {
    /** For people, as in "scale hot-deals to 0". */
    action: string;
    workload: Workload;
    /** How many pods of the workload can stay. */
    keeps: number;
    /** Whether new pods are added. */
    adds: boolean;
}

/**
 * Checks whether actions can be done: one that fails would leave an attack without a verdict.
 *
 * @returns those that remove, replace or add pods
 * @throws ReasonError with all obstacles: objects that are missing or protected, or that the kind refuses
 */
export async function requireObjects(
    cluster: Cluster,
    namespace: string,
    actions: readonly Action[],
): Promise<PodsChanging[]> {
    const changing: PodsChanging[] = [];
    const mistakes = await Promise.all(
        actions.map(async (action) => {
            const kind = actionKindOf(action);
            const workload = kind.workload?.(action);
            const named: NamedObject | undefined = workload
                ? referenceTo(workload, namespace)
                : changedOf(kind.restores, action);
            if (named === undefined) return [];
            const object = { ...named, namespace };
            const found: FoundWorkload | undefined = await cluster.get(object);
            const keeps = found && kind.keeps?.(action, found);
            if (found && workload && keeps !== undefined) {
                const adds = kind.adds?.(action, found) ?? false;
                changing.push({ action: kind.describe(action), workload, keeps, adds });
            }
            const problem = found
                ? (whyRefused(found) ?? kind.whyNot?.(action, found))
                : await missing(cluster, object);
            return problem === undefined ? [] : [`the experiment cannot ${kind.describe(action)}: ${problem}`];
        }),
    );
    if (mistakes.flat().length === 0) return changing;
    throw new ReasonError("action-refused", [...new Set(mistakes.flat())].join("; "), "Correct the experiment");
}

async function missing(cluster: Cluster, { resource, namespace, name }: ObjectReference): Promise<string> {
    const names: string[] = [];
    for await (const { metadata } of cluster.list(resource, { namespace })) names.push(metadata!.name!);
    const { kind } = resource;
    return `namespace ${namespace} has no ${kind} ${name}; its ${kind}s are: ${few(names, maxNamed) || "none"}`;
}

function whyRefused({ metadata, spec }: FoundWorkload): string | undefined {
    const isSpared = isProtected(metadata?.labels) || isProtected(spec?.template?.metadata?.labels);
    return isSpared ? "it is labeled as protected" : undefined;
}

/** The outcome of an action, which is named in words. After an action that failed, no later one is started. */
export const performedSchema = z.object({
    action: z.string(),
    begunAt: instant,
    endedAt: instant,
    problem: z.string().optional().describe("Why it failed"),
});
export type Performed = z.infer<typeof performedSchema>;

/**
 * Performs actions one after the other, those that are done in turn, until one fails or the run is aborted.
 *
 * @param attacksLast asked before each action, also of a run without attacks: after the deadline nothing would undo it
 * @param context once its `signal` is set, no further action starts, and a wait ends
 * @param done gets each action that was done, and when. @default it is not called
 * @returns what was done, and what failed. A wait that the abort has cut short is neither
 */
export async function performAll(
    actions: readonly Action[],
    context: ActionContext,
    attacksLast: () => Promise<boolean>,
    say: (message: string) => void,
    done: Done[] = [],
): Promise<Performed[]> {
    const { signal } = context;
    const performed: Performed[] = [];
    for (const action of inTurn(actions)) {
        if (signal?.aborted) break;
        const kind = actionKindOf(action);
        const description = kind.describe(action);
        const begunAt = Date.now();
        const perform = async () => {
            if (!(await attacksLast())) throw new Error("the run is over");
            await kind.perform!(action, context);
        };
        const problem = await perform().then(() => undefined, problemOf);
        if (problem !== undefined && signal?.aborted) break;
        performed.push({ action: description, begunAt, endedAt: Date.now(), problem });
        say(problem === undefined ? `Done: ${description}` : `Could not ${description}: ${problem}`);
        if (problem !== undefined) break;
        done.push({ action, at: performance.now() });
    }
    return performed;
}

/** An action that was done, and when, in milliseconds of `performance.now()`. */
export interface Done {
    action: Action;
    at: number;
}

const lookEveryMs = 1_000;

/**
 * Watches whether what actions have set is still there, until the checks end or the run is aborted.
 *
 * @param done also those that are added meanwhile
 * @returns why not, as far as is seen
 * @throws Error if the API server does not say so at the end
 */
export async function whyNotKept(done: readonly Done[], context: ActionContext): Promise<Reason | undefined> {
    const { endsAt, signal } = context;
    for (;;) {
        const isLast = Date.now() >= endsAt;
        if (signal?.aborted) return undefined;
        for (const { action, at } of [...done]) {
            const kind = actionKindOf(action);
            const why = await kind.whyNotKept?.(action, context).catch((error: unknown) => {
                if (isLast) throw error;
            });
            if (why === undefined) continue;
            const after = describeMilliseconds(performance.now() - at);
            const message = `the action "${kind.describe(action)}" did not last: ${after} after it, ${why}`;
            return reason("action-undone", message);
        }
        if (isLast) return undefined;
        await pause(Math.min(lookEveryMs, endsAt - Date.now()), signal);
    }
}

import type * as z from "zod";
import type { Cluster } from "../../cluster/client";
import type { KnownResource, resources, Restores, Right } from "../../cluster/resources";
import type { FoundWorkload, Workload } from "../../cluster/workload";
import type { Beside } from "./beside";

/**
 * One kind of action: a file or a folder, and its lines in `registry.ts`.
 *
 * @typeParam A what a definition says of such an action, its `kind` included
 */
export interface ActionKind<A extends { kind: string }> {
    /** What a definition may say; anything else is a mistake. */
    schema: z.ZodObject & z.ZodType<A>;
    /** Actions that need different rights, for the docs and for tests. A Deployment is called `NAME`. */
    examples: readonly A[];
    /** What is done, for people, as in "scale hot-deals to 3". */
    describe(action: A): string;
    /** The rights that the account which runs the experiment needs for this action and its undoing. */
    rights(action: A, namespace: string): Right[];
    /** The workload that it changes; it must be there before anything is touched. Absent if it changes none. */
    workload?(action: A): Workload;
    /**
     * What it changes until the run is undone, by `setUntilUndone`: the undoing restores it, and the deadline Job does
     * if nothing else has. The object must be there, and must not be protected, before anything is touched. It is no
     * pod: see `loansOn` in `ending/end.ts`. Absent if nothing must be restored.
     */
    restores?: Restores<A> & { resource: Exclude<KnownResource, typeof resources.pod> };
    /**
     * Called repeatedly once the action is done, until the checks end: why what it has set is no longer there, as a
     * part of a sentence. Undefined while it is there. @default it is not called
     */
    whyNotKept?(action: A, context: Pick<ActionContext, "cluster" | "namespace">): Promise<string | undefined>;
    /**
     * How many pods of the workload, as found, can stay at most: the action certainly removes or replaces all others.
     * @default all can stay
     */
    keeps?(action: A, found: FoundWorkload): number;
    /** Whether the action certainly adds pods to the workload, as found, or replaces some. @default false */
    adds?(action: A, found: FoundWorkload): boolean;
    /** Why it cannot be done to the workload, or what it `restores`, as found. Undefined if it can. @default always */
    whyNot?(action: A, found: FoundWorkload): string | undefined;
    /** Does it, in its turn. Absent if it goes on `beside` the run. @throws Error if it cannot be done */
    perform?(action: A, context: ActionContext): Promise<void>;
    /** Set if it is not done in its turn, but goes on beside the whole run. */
    beside?: Beside<A>;
}

/** Where and until when actions are done. */
export interface ActionContext {
    cluster: Cluster;
    /** The namespace of the attacks or, without attacks, of the application. */
    namespace: string;
    /** Name of the run. */
    run: string;
    /** When the checks end, in milliseconds since the epoch. What an action waits for must have come by then. */
    endsAt: number;
    /** Set when the run is aborted: an action that only waits ends then, with an error. */
    signal?: AbortSignal;
}

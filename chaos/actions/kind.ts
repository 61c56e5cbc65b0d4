import type * as z from "zod";
import type { Cluster } from "../cluster/client";
import type { Right } from "../cluster/rights";

/**
 * One kind of action: a file of its own in this folder, and its lines in `registry.ts`.
 *
 * @typeParam A what a definition says of such an action, its `kind` included
 */
export interface ActionKind<A extends { kind: string }> {
    /** What a definition may say; anything else is a mistake. */
    schema: z.ZodType<A>;
    /** What is done, for people, as in "scale hot-deals to 3". */
    describe(action: A): string;
    /** What the account that runs the experiment must be allowed to, for this action and its undoing. */
    rights(action: A, namespace: string): Right[];
    /**
     * @param signal set when the run is aborted: an action that only waits ends then, with an error
     * @throws Error if it cannot be done
     */
    perform(action: A, cluster: Cluster, namespace: string, signal?: AbortSignal): Promise<void>;
}

import type { Cluster } from "../../shared/kubernetes";
import { scale, type ScaleAction } from "./scale";
import { wait, type WaitAction } from "./wait";

/** What is done in the shop while the attacks last, as a saved experiment says it. */
export type Action = WaitAction | ScaleAction;

/** One kind of action: a file of its own in this folder, and a line in `actions`. */
export interface ActionKind<A extends Action> {
    /** For people: what is done, as in "scale hot-deals to 3". */
    describe(action: A): string;
    /** Does it. @throws Error where it cannot be done */
    act(action: A, cluster: Cluster, namespace: string): Promise<void>;
}

const actions: { [K in Action["kind"]]: ActionKind<Extract<Action, { kind: K }>> } = { wait, scale };

/** The kind of an action, with all that is known of it. */
export function kindOfAction<A extends Action>(action: A): ActionKind<A> {
    return actions[action.kind] as unknown as ActionKind<A>;
}

/** The Deployments that some actions scale. */
export function scaledBy(some: readonly Action[]): string[] {
    return [...new Set(some.flatMap((action) => (action.kind === "scale" ? action.deployment : [])))];
}

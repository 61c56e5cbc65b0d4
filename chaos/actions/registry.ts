import * as z from "zod";
import type { ActionKind } from "./kind";
import { rollout, type RolloutAction } from "./rollout";
import { scale, type ScaleAction } from "./scale";
import { wait, type WaitAction } from "./wait";

export type Action = WaitAction | ScaleAction | RolloutAction;

const kinds = { wait, scale, rollout } satisfies {
    [K in Action["kind"]]: ActionKind<Extract<Action, { kind: K }>>;
};

/** The kinds of actions. */
export const actionKinds = Object.keys(kinds) as Action["kind"][];

export const actionSchema = z.discriminatedUnion("kind", [wait.schema, scale.schema, rollout.schema]);

export function actionKindOf<A extends Action>(action: A): ActionKind<A> {
    return kinds[action.kind] as unknown as ActionKind<A>;
}

/** Names of the Deployments that some actions scale, each once. */
export function scaledBy(actions: readonly Action[]): string[] {
    return [...new Set(actions.flatMap((action) => actionKindOf(action).scales?.(action) ?? []))];
}

import * as z from "zod";
import { changedOf, type NamedObject } from "../../cluster/resources";
import type { ActionKind } from "./action-kind";
import type { Beside } from "./beside";
import { load } from "./load/load";
import { rollout } from "./rollout";
import { scale } from "./scale";
import { wait } from "./wait";

const kinds = { wait, scale, rollout, load };

type ActionOf<K> = K extends ActionKind<infer A> ? A : never;
export type Action = ActionOf<(typeof kinds)[keyof typeof kinds]>;

const all: readonly ActionKind<Action>[] = Object.values(kinds) as never;

export const actionKinds = Object.keys(kinds) as Action["kind"][];

/** Actions of each kind that need different rights. */
export const exampleActions: readonly Action[] = all.flatMap(({ examples }) => examples);

export const actionSchema = z.discriminatedUnion(
    "kind",
    all.map(({ schema }) => schema) as unknown as [z.ZodObject],
) as unknown as z.ZodType<Action>;

export const actionKindOf = <A extends Pick<Action, "kind">>({ kind }: A) => kinds[kind] as unknown as ActionKind<A>;

/** What some actions change and must be restored, each object once. */
export function restoredBy(actions: readonly Action[]): NamedObject[] {
    const found = actions.flatMap((action) => changedOf(actionKindOf(action).restores, action) ?? []);
    return [...new Map(found.map((one) => [`${one.resource.resource} ${one.name}`, one])).values()];
}

/** The types of objects that actions change and that must be restored. */
export const resourcesOfActions = all.flatMap(({ restores }) => restores?.resource ?? []);

/** The actions that are done one after the other. */
export const inTurn = (actions: readonly Action[]): Action[] =>
    actions.filter((action) => actionKindOf(action).beside === undefined);

/** An action that goes on beside the run. */
export interface BesideAction {
    /** Names its part in the run: its kind, and from the second on a number. */
    part: string;
    action: Action;
    beside: Beside<Action>;
}

export function besides(actions: readonly Action[]): BesideAction[] {
    const found = actions.flatMap((action) => {
        const { beside } = actionKindOf(action);
        return beside ? { action, beside } : [];
    });
    return found.map((one, index) => {
        const { kind } = one.action;
        const earlier = found.slice(0, index).filter(({ action }) => action.kind === kind).length;
        return { ...one, part: earlier === 0 ? kind : `${kind}-${earlier + 1}` };
    });
}

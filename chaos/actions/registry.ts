import * as z from "zod";
import type { Resource } from "../cluster/resources";
import type { ActionKind } from "./kind";
import { rollout, type RolloutAction } from "./rollout";
import { scale, type ScaleAction } from "./scale";
import { wait, type WaitAction } from "./wait";

export type Action = WaitAction | ScaleAction | RolloutAction;

const kinds = { wait, scale, rollout } satisfies {
    [K in Action["kind"]]: ActionKind<Extract<Action, { kind: K }>>;
};

/** One action of each kind. */
export const exampleActions: readonly Action[] = Object.values(kinds).map(({ example }) => example);

export const actionSchema = z.discriminatedUnion("kind", [wait.schema, scale.schema, rollout.schema]);

export function actionKindOf<A extends Action>(action: A): ActionKind<A> {
    return kinds[action.kind] as unknown as ActionKind<A>;
}

/** What some actions change and must be restored, each object once. */
export function restoredBy(actions: readonly Action[]): { resource: Resource; name: string }[] {
    const all = actions.flatMap((action) => {
        const { restores } = actionKindOf(action);
        return restores ? [{ resource: restores.resource, name: restores.nameIn(action) }] : [];
    });
    return [...new Map(all.map((one) => [`${one.resource.resource} ${one.name}`, one])).values()];
}

/** The types of objects that actions change and that must be restored. */
export const resourcesOfActions = Object.values(kinds).flatMap((kind) =>
    "restores" in kind ? [kind.restores.resource] : [],
);

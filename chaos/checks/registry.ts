import * as z from "zod";
import { command, type CommandCheck } from "./command";
import { condition, type ConditionCheck } from "./condition";
import { http, type HttpCheck } from "./http";
import type { CheckKind } from "./kind";
import { podsReady, type PodsReadyCheck } from "./pods-ready";
import { prometheus, type PrometheusCheck } from "./prometheus";

export type Check = HttpCheck | PodsReadyCheck | PrometheusCheck | ConditionCheck | CommandCheck;

const kinds = { http, podsReady, prometheus, condition, command } satisfies {
    [K in Check["kind"]]: CheckKind<Extract<Check, { kind: K }>>;
};

/** The kinds of checks. */
export const checkKinds = Object.keys(kinds) as Check["kind"][];

export const checkSchema = z.discriminatedUnion("kind", [
    http.schema,
    podsReady.schema,
    prometheus.schema,
    condition.schema,
    command.schema,
]);

export function checkKindOf<C extends Check>(check: C): CheckKind<C> {
    return kinds[check.kind] as unknown as CheckKind<C>;
}

export function checkName(check: Check): string {
    return check.name ?? checkKindOf(check).name(check);
}

import * as z from "zod";
import { command } from "./command";
import { condition } from "./condition";
import { grpc } from "./grpc";
import { http } from "./http";
import { type CheckKind, type CheckPlace, plansService } from "./check-kind";
import { podsReady } from "./pods-ready";
import { prometheus } from "./prometheus";
import type { NamedService } from "./route";

const kinds = { http, grpc, podsReady, prometheus, condition, command };

type CheckOf<K> = K extends CheckKind<infer C> ? C : never;
export type Check = CheckOf<(typeof kinds)[keyof typeof kinds]>;

const all: readonly CheckKind<Check>[] = Object.values(kinds);

export const checkKinds = Object.keys(kinds) as Check["kind"][];

export const exampleChecks: readonly Check[] = all.flatMap(({ examples }) => examples);

export const checkSchema = z.discriminatedUnion(
    "kind",
    all.map(({ schema }) => schema) as unknown as [z.ZodObject],
) as unknown as z.ZodType<Check>;

export const checkKindOf = <C extends Pick<Check, "kind">>({ kind }: C) => kinds[kind] as unknown as CheckKind<C>;

export function serviceAskedBy(check: Check, { service, defaultNamespace }: CheckPlace): NamedService | undefined {
    const asked = checkKindOf(check).asks?.(check, defaultNamespace);
    return asked === plansService ? service : asked;
}

/** The URL of a check. Undefined if it asks a Service by its name, or nothing. */
export const urlAskedBy = (check: Check): string | undefined =>
    checkKindOf(check).asks !== undefined && "url" in check ? check.url : undefined;

export const checkName = (check: Check): string => check.name ?? checkKindOf(check).name(check);

import * as z from "zod";
import { http, type HttpCheck } from "./http";
import type { CheckKind } from "./kind";
import { podsReady, type PodsReadyCheck } from "./pods-ready";

export type Check = HttpCheck | PodsReadyCheck;

const kinds = { http, podsReady } satisfies {
    [K in Check["kind"]]: CheckKind<Extract<Check, { kind: K }>>;
};

export const checkSchema = z.discriminatedUnion("kind", [http.schema, podsReady.schema]);

export function checkKindOf<C extends Check>(check: C): CheckKind<C> {
    return kinds[check.kind] as unknown as CheckKind<C>;
}

export function checkName(check: Check): string {
    return check.name ?? checkKindOf(check).name(check);
}

import * as z from "zod";
import { type BlackholeAttack, blackhole } from "./blackhole";
import { type DnsAttack, dns } from "./dns";
import { type KillAttack, kill } from "./kill";
import type { AttackKind } from "./kind";

export type Attack = BlackholeAttack | DnsAttack | KillAttack;

const kinds = { blackhole, dns, kill } satisfies {
    [K in Attack["kind"]]: AttackKind<Extract<Attack, { kind: K }>>;
};

export const attackKinds = Object.keys(kinds) as Attack["kind"][];

export const attackSchema = z.discriminatedUnion("kind", [blackhole.schema, dns.schema, kill.schema]);

export function attackKindOf<A extends Attack>(attack: A): AttackKind<A> {
    return kinds[attack.kind] as unknown as AttackKind<A>;
}

import * as z from "zod";
import { type BlackholeAttack, blackhole } from "./blackhole";
import { type DnsAttack, dns } from "./dns";
import { type FaultAttack, fault } from "./fault/fault";
import { type KillAttack, kill } from "./kill";
import type { AttackKind, Through } from "./kind";

export type Attack = BlackholeAttack | DnsAttack | FaultAttack | KillAttack;

const kinds = { blackhole, dns, fault, kill } satisfies {
    [K in Attack["kind"]]: AttackKind<Extract<Attack, { kind: K }>>;
};

export const attackKinds = Object.keys(kinds) as Attack["kind"][];

/** An attack of which its kind says everything: all its other fields have defaults. */
export type PlainAttack = Exclude<Attack, FaultAttack>;

export const plainAttackKinds = attackKinds.filter((kind): kind is PlainAttack["kind"] => !takesAPlace(kind));

/** Whether an attack of a kind takes a Service's place: it needs no other target. */
export function takesAPlace(kind: Attack["kind"]): boolean {
    return "through" in kinds[kind];
}

export const attackSchema = z.discriminatedUnion("kind", [blackhole.schema, dns.schema, fault.schema, kill.schema]);

export function attackKindOf<A extends Attack>(attack: A): AttackKind<A> {
    return kinds[attack.kind] as unknown as AttackKind<A>;
}

/** The Service whose place an attack takes, and what its callers meet. Undefined if it takes none. */
export const throughOf = (attack: Attack): Through | undefined => attackKindOf(attack).through?.(attack);

/** The types of objects that attacks change and that must be restored. */
export const resourcesOfAttacks = Object.values(kinds).flatMap((kind) =>
    "restores" in kind ? [kind.restores.resource] : [],
);

/** Whether an attack denies all callers connections into its targets: what becomes of established ones can be seen. */
export const deniesInward = (attack: Attack) => attackKindOf(attack).proof(attack).inward !== undefined;

/** Why `established` must not be `cut` for other attacks; completes a sentence that begins with what is wanted. */
export const cutIsNotShown =
    "can be shown only for a blackhole of direction both or ingress without peers; allowed for this attack: any";

/** Whether an attack is proven by connections into its targets alone, if nothing can be tried from within them. */
export function mayStayUnproven(attack: Attack): boolean {
    const { inward, outward } = attackKindOf(attack).proof(attack);
    return inward !== undefined && outward !== undefined;
}

/** Why `outward` must not be `unproven` for other attacks; completes a sentence that begins with what is wanted. */
export const outwardMustBeProven =
    "is allowed only for a blackhole of direction both without peers, which connections into the targets prove, too; " +
    "allowed for this attack: proven";

/** Why `includeNotReady` must not be set: such a pod could be chosen, and nothing would be done to it. */
export const onlyReadyOf = (kind: Attack["kind"]): string | undefined =>
    attackKindOf({ kind } as Attack).onlyReady && `${kind} affects only pods that are ready; allowed: false`;

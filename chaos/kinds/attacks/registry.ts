import * as z from "zod";
import type { Cluster } from "../../cluster/client";
import { type KnownResource, type Resource, resources } from "../../cluster/resources";
import type { TargetRequest } from "../../targets/choose";
import type { Discovered, Target } from "../../targets/containers";
import { peersOf } from "../../targets/discover";
import { describeBesides } from "../../targets/pods";
import { blackhole } from "./blackhole";
import { dns } from "./dns";
import { fail } from "./fail/fail";
import { fault } from "./fault/fault";
import { kill } from "./kill/kill";
import { stress } from "./stress/stress";
import type { AttackKind, PlannedAttack } from "./attack-kind";

const kinds = { blackhole, dns, fail, fault, kill, stress };

type Kinds = (typeof kinds)[keyof typeof kinds];
type AttackOf<K> = K extends AttackKind<infer A, infer _, infer __> ? A : never;
type NeedsTarget<K> = K extends AttackKind<infer A, infer F, infer _> ? ([F] extends [undefined] ? A : never) : never;
type Plain<A> = A extends { kind: infer K } ? ({ kind: K } extends A ? A : never) : never;

export type Attack = AttackOf<Kinds>;

/** Names of the kinds that are no NetworkPolicies. */
export type OtherKind = {
    [K in keyof typeof kinds]: (typeof kinds)[K] extends { denies: object } ? never : K;
}[keyof typeof kinds];

export type AttackWithTarget = NeedsTarget<Kinds>;

/** What `tryOut` of a kind finds. */
export type TriedBy<N extends Attack["kind"]> = Awaited<ReturnType<NonNullable<(typeof kinds)[N]["tryOut"]>>>;

/** An attack that is complete with its kind alone, since all its other fields have defaults. */
export type PlainAttack = Plain<Attack>;

export const attackKinds = Object.keys(kinds) as Attack["kind"][];

export const plainAttackKinds = attackKinds.filter(
    (kind): kind is PlainAttack["kind"] => kinds[kind].schema.safeParse({ kind }).success,
);

export const exampleAttacks: readonly Attack[] = Object.values(kinds).flatMap(({ examples }) => [...examples]);

export const attackKindOf = <A extends Pick<Attack, "kind">>({ kind }: A) =>
    kinds[kind] as unknown as AttackKind<A, unknown, unknown>;

/** @param more fields that each kind has besides its own */
export const attackSchemaWith = <M extends z.ZodRawShape>(more: (kind: Attack["kind"]) => M) => {
    const [first, ...others] = attackKinds.map((kind) => kinds[kind].schema.extend(more(kind)));
    return z.discriminatedUnion("kind", [first!, ...others]) as unknown as z.ZodType<Attack & z.output<z.ZodObject<M>>>;
};

const all: readonly AttackKind<never, unknown, unknown>[] = Object.values(kinds) as never;

export const attackSchema = attackSchemaWith(() => ({})) as z.ZodType<Attack>;

export const findsTargets = (kind: Attack["kind"]): boolean => kinds[kind].find !== undefined;

/** While an object of one of these types exists, its attack lasts. */
export const attackTypes: readonly Resource[] = [...new Set(all.map(({ object = resources.networkPolicy }) => object))];

export const attackParts: readonly Resource[] = [
    ...new Set([...attackTypes, ...all.flatMap(({ parts = [] }) => parts)]),
];

export const resourcesOfAttacks: readonly KnownResource[] = all.flatMap(({ restores, restoresTargets }) => [
    ...(restores ? [restores.resource] : []),
    ...(restoresTargets ? [resources.pod] : []),
]);

/** Most attacks are proven within two seconds of their creation. */
const proofMs = 5_000;

/** How long after their creation attacks are usually proven at the latest, in milliseconds. */
export const beginMsOf = (attacks: readonly Attack[]): number =>
    attacks.length === 0 ? 0 : proofMs + Math.max(...attacks.map((attack) => attackKindOf(attack).readyMs ?? 0));

/** How long the window must last for all of some attacks to show, in milliseconds. */
export const windowMsOf = (attacks: readonly Attack[]): number =>
    Math.max(0, ...attacks.map((attack) => attackKindOf(attack).windowMs?.(attack) ?? 0));

export const objectTypeOf = (attack: Attack): Resource => attackKindOf(attack).object ?? resources.networkPolicy;

export const objectNameOf = (runName: string, attack: string) => `${runName}-${attack}`;

const deniesInward = (attack: Attack) => attackKindOf(attack).proof(attack).inward !== undefined;

/**
 * How long the checks must last to show that established connections were cut, in milliseconds: 2 s until one counts as
 * silent, 2 s until it is known that the witness itself has not lost it, and 1 s between reports.
 */
export const cutMsOf = (attacks: readonly { established?: "any" | "cut" }[]): number =>
    attacks.some(({ established }) => established === "cut") ? 5_000 : 0;

/** Whether connections into its targets can prove an attack if nothing can be tried from within them. */
export function mayStayUnproven(attack: Attack): boolean {
    const { inward, outward } = attackKindOf(attack).proof(attack);
    return inward !== undefined && outward !== undefined;
}

/** Options that only some attacks may have. `why` completes a sentence that begins with the option and its value. */
const optionsOfSome = [
    {
        field: "established",
        wish: "cut",
        otherwise: "any",
        canHave: deniesInward,
        why:
            "can be shown only for a blackhole of direction both or ingress without peers; " +
            "allowed for this attack: any",
    },
    {
        field: "outward",
        wish: "unproven",
        otherwise: "proven",
        canHave: mayStayUnproven,
        why:
            "is allowed only for a blackhole of direction both without peers, which connections into the targets " +
            "prove, too; allowed for this attack: proven",
    },
] as const;

export const wrongOptionsOf = (...attacks: (Attack & { established?: string; outward?: string })[]) =>
    optionsOfSome.filter(({ field, wish, canHave }) =>
        attacks.some((attack) => attack[field] === wish && !canHave(attack)),
    );

/** The other containers that are hit with the targets, as of `describeBesides`. */
export const describeOthers = (attack: Attack, ...args: [readonly Discovered[], readonly Target[]]): string =>
    attackKindOf(attack).sparesOthers ? "" : describeBesides(...args);

/** A pod that is not ready could be chosen by `includeNotReady`, and nothing would be done to it. */
export const onlyReadyOf = (kind: Attack["kind"]): string | undefined =>
    kinds[kind].onlyReady && `${kind} affects only pods that are ready; allowed: false`;

/** The targets that some attacks ask for, given what their kinds find in the cluster. @throws Error as `find` does */
export function requestsOf(
    cluster: Cluster,
    { namespace, attacks }: { namespace: string; attacks: readonly PlannedAttack<Attack>[] },
): Promise<TargetRequest[]> {
    const asking = attacks.map(async ({ attack, ...aim }) => {
        const kind = attackKindOf(attack);
        const { found, conditions, origin } = (await kind.find?.(attack, cluster, namespace)) ?? {};
        return {
            ...aim,
            target: [aim.target, ...(conditions === undefined ? [] : [conditions])].join(),
            origin,
            peers: peersOf(attack),
            deletesPods: kind.proof(attack).deleted,
            found,
        };
    });
    return Promise.all(asking);
}

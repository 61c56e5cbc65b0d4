/**
 * The policies that a run makes beside those of others, and whether they still fit. Anybody may delete or change
 * theirs during a run; then a policy of the run that only adds to what they allow would cut its pods off.
 */
import type { V1NetworkPolicy } from "@kubernetes/client-node";
import { annotations, noteIn } from "../cluster/labels";
import { type KnownPolicy, knownPolicy, saidBy } from "./known";
import { isolates, type PolicySpec, ways } from "./rules";
import { isWithin } from "./selector";

/** What a policy of a run rests on. */
export interface RestsOn {
    /** Set if it only adds to policies of others, which isolate its pods in the same directions. */
    adds?: true;
    /** The policies that it was made from, and what they said: see `saidBy`. @default none */
    from?: Readonly<Record<string, string>>;
}

/** A policy that a run makes beside those of others. */
export interface BesidePolicy extends RestsOn {
    spec: PolicySpec;
    /** What else is noted on it. @default nothing */
    annotations?: Record<string, string>;
}

/** A policy of a run, as far as it can be seen whether it still fits. */
export interface OwnPolicy extends RestsOn, Pick<KnownPolicy, "name" | "podSelector"> {
    ways: (keyof KnownPolicy["allows"])[];
}

export const madeFrom = (policies: readonly V1NetworkPolicy[]): RestsOn["from"] =>
    Object.fromEntries(policies.map(knownPolicy).map((one) => [one.name, saidBy(one)]));

/** What is noted on a policy of a run. */
export const noteOf = ({ adds, from }: RestsOn) => ({ [annotations.restsOn]: JSON.stringify({ adds, from }) });

/** @param policy of a run, as a client or JSON has it. @returns undefined if it rests on none */
export function ownPolicy(policy: V1NetworkPolicy): OwnPolicy | undefined {
    const { adds, from } = noteIn<RestsOn>(policy, annotations.restsOn);
    if (adds === undefined && from === undefined) return undefined;
    const spec = policy.spec!;
    return {
        name: policy.metadata!.name!,
        podSelector: spec.podSelector!,
        ways: ways.filter((way) => isolates(spec, way)),
        adds,
        from,
    };
}

/**
 * Why some policies of a run do not fit those of others any more, completing "during the run". Undefined if they do.
 *
 * @param others all others of their namespace
 */
export function whyUnfit(own: readonly OwnPolicy[], others: readonly KnownPolicy[]): string | undefined {
    for (const one of own) {
        const gone = Object.entries(one.from ?? {}).find(([name, said]) => {
            const now = others.find((other) => other.name === name);
            return now === undefined || saidBy(now) !== said;
        });
        if (gone) {
            const [name] = gone;
            const became = others.some((other) => other.name === name) ? "changed" : "deleted";
            return `the NetworkPolicy ${name}, from which the run had made its own ${one.name}, was ${became}`;
        }
        if (one.adds && !one.ways.every((way) => isIsolated(one, way, others)))
            return (
                `NetworkPolicies, without which the run's own ${one.name} would deny its pods nearly all traffic, ` +
                "were deleted or changed"
            );
    }
    return undefined;
}

const isIsolated = ({ podSelector }: OwnPolicy, way: OwnPolicy["ways"][number], others: readonly KnownPolicy[]) =>
    others.some((other) => other.allows[way] !== undefined && isWithin(podSelector, other.podSelector));

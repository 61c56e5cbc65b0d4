/**
 * The policies that a run makes beside those of others, and whether they still fit. Anybody may delete or change
 * theirs during a run; then a policy of the run that only adds to what they allow would cut its pods off.
 */
import type { V1NetworkPolicy } from "../values/kubernetes-types";
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

/** A policy that a run is to make beside those of others. */
export interface NewPolicy extends RestsOn {
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

/** @param policy one that a run has made @returns undefined if it rests on no other policy */
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
 * Whether policies of a run still fit those of others, of which it keeps nothing: there may be many, and large ones.
 */
export class Fit {
    /** What was seen of the policies that each rests on, by their names: whether they say the same. */
    private readonly same: Map<string, boolean>[];
    /** In which directions none of the others isolates the pods of each that only adds. */
    private readonly open: Set<OwnPolicy["ways"][number]>[];

    constructor(private readonly own: readonly OwnPolicy[]) {
        this.same = own.map(() => new Map<string, boolean>());
        this.open = own.map(({ adds, ways }) => new Set(adds ? ways : []));
    }

    /** Sees one of the others. All must be seen. */
    see(other: KnownPolicy): void {
        const { name, podSelector, allows } = other;
        let said: string | undefined;
        for (const [index, one] of this.own.entries()) {
            const then = one.from?.[name];
            if (then !== undefined) this.same[index]!.set(name, then === (said ??= saidBy(other)));
            for (const way of this.open[index]!)
                if (allows[way] !== undefined && isWithin(one.podSelector, podSelector)) this.open[index]!.delete(way);
        }
    }

    /** Why some do not fit any more, completing "during the run". Undefined if they do. */
    whyNot(): string | undefined {
        for (const [index, { name: own, from = {} }] of this.own.entries()) {
            const same = this.same[index]!;
            const name = Object.keys(from).find((each) => !same.get(each));
            if (name !== undefined) {
                const became = same.has(name) ? "changed" : "deleted";
                return `the NetworkPolicy ${name}, from which the run had made its own ${own}, was ${became}`;
            }
            if (this.open[index]!.size > 0)
                return (
                    `NetworkPolicies, without which the run's own ${own} would deny its pods nearly all traffic, ` +
                    "were deleted or changed"
                );
        }
        return undefined;
    }
}

/** @param others all others of their namespace @returns as `whyNot` of `Fit` */
export function whyUnfit(own: readonly OwnPolicy[], others: readonly KnownPolicy[]): string | undefined {
    const fit = new Fit(own);
    others.forEach((other) => fit.see(other));
    return fit.whyNot();
}

/** The one way to end attacks: for the update, its steps, and the deadline Job. */
import { fieldsSet } from "../cluster/set-field";
import { endingOf } from "../cluster/events";
import { isExperimentPolicy, labels, unlabeling } from "../cluster/labels";
import { isLent, type Loan, restore } from "../cluster/lend";
import {
    type KubeObject,
    type ObjectApi,
    type ObjectReference,
    otherResources,
    type Resource,
    resources,
} from "../cluster/resources";
import { loansOfAttacks } from "../kinds/attacks/job-parts";
import { inTurns, within } from "../values/async";
import { exemptedPolicy, isExempting } from "../policies/exemption";
import type { Scope, Some } from "./scope";

/** Calls to the API server at a time, in each part: fewer than the Job's connections, of which some may hang. */
const maxCalls = 12;

/** Objects that are restored at a time, in each part: one may have a megabyte, of which that takes the most. */
const maxRestored = 3;

/** How long the Events may take that say so on the targets, in milliseconds: all is ended by then. */
const eventsMs = 1_000;

/**
 * The order of ending.
 *
 * 1. What ends an attack by itself: the orders to the Job go, Services, the images of stopped containers, and what
 *    actions have changed are restored.
 * 2. Policies that were changed to leave out the targets select them again.
 * 3. If a policy still leaves out pods that are labeled `attacked`, because it always did or is not restored yet: the
 *    labels of these pods.
 * 4. The attacks' objects: their policies, without which a pod would be open that others do not select; and the
 *    proxies of faults, which pass on what they have until their Service no longer leads to them.
 * 5. The labels of the other targets. Not before: while Cilium waits to look at a pod's new labels, for up to 35 s, it
 *    does not notice either that a policy is gone (`StateWaitingForIdentity` of its endpoints).
 * 6. Once more what part 1 has not done, or was done meanwhile: an update may have let a fault begin, or have stopped a
 *    container, which it cannot any more once the pod has lost its label. And the pods that actions have beside the
 *    run: a load goes on for some seconds, so the application recovers under it.
 *
 * Each has so many milliseconds before the next begins nevertheless: calls that hang must not keep an attack from its
 * end within 5 s, of which the Job needs one to see that it is wanted.
 */
const order: readonly [patienceMs: number, part: (ending: Ending) => Promise<unknown>][] = [
    [1_000, (ending) => Promise.all([ending.remove(ending.scope.jobOrders), ending.restore(ending.scope.changed)])],
    [1_000, (ending) => ending.restore(ending.scope.policies)],
    [1_000, (ending) => ending.unlabelUnselected()],
    [500, (ending) => ending.remove(ending.scope.objects)],
    [500, (ending) => ending.unlabel()],
    [0, (ending) => Promise.all([ending.restore(ending.scope.changed), ending.remove(ending.scope.besides)])],
];
/** How long the third part looks at policies, in milliseconds. */
const lookMs = 500;

const isAttacked = (pod: KubeObject | undefined) => pod?.metadata?.labels?.[labels.attacked] !== undefined;

/**
 * Ends attacks: removes the targets' labels and the attacks' objects, and restores what was somebody's. Then removes
 * the rest, such as the deadline Job, if the scope has any.
 *
 * @param say is told what stays as somebody else has set it since. @default nobody is
 * @returns the number of objects that were removed, restored or lost labels
 * @throws Error with all that failed: everything is tried, also if something fails or hangs. Then the rest stays: the
 *   Job may have to end what is left
 */
export async function endAttacks(api: ObjectApi, scope: Scope, say: Say = () => undefined): Promise<number> {
    const ending = new Ending(api, scope, say);
    const begun: Promise<unknown>[] = [];
    for (const [patienceMs, part] of order) {
        const parts = part(ending);
        begun.push(parts);
        await within(patienceMs, parts);
    }
    await Promise.all(begun);
    await within(eventsMs, ending.sayEnded());
    const ended = ending.done();
    const rest = await Promise.all((scope.rest ?? []).map((some) => ending.find(some)));
    // The program last: the Job may have to start again as long as it exists.
    for (const objects of rest) await inTurns(objects, maxCalls, (object) => api.delete(object));
    return ended + rest.flat().length;
}

/** @throws Error with all failures of things that were tried. Nothing if there are none */
export function throwAll(failures: readonly unknown[]): void {
    // What cannot be listed may be asked for twice.
    const distinct = [...new Map(failures.map((one) => [String(one), one])).values()];
    if (distinct.length === 1) throw distinct[0];
    if (distinct.length > 1) throw new AggregateError(distinct);
}

/** What runs have borrowed of an object: an attack and an action may have changed the same one. */
export function loansOn(resource: Resource, object: KubeObject): Loan[] {
    // No action changes a pod: many may label one who may not change what it runs.
    const set = resource === resources.pod ? [] : fieldsSet(object);
    const loans: readonly Loan[] = [...loansOfAttacks, exemptedPolicy, ...set];
    return loans.filter((loan) => (loan.resource ?? resource) === resource && isLent(loan, object));
}

type Work = () => Promise<unknown>;
export type Say = (message: string) => void;

/** What is done and what has failed so far. */
class Ending {
    private count = 0;
    private readonly failures: unknown[] = [];
    private readonly events = new Map<string, NonNullable<ReturnType<typeof endingOf>>>();

    constructor(
        readonly api: ObjectApi,
        readonly scope: Scope,
        private readonly say: Say,
    ) {}

    /** @throws Error with everything that failed */
    done(): number {
        throwAll(this.failures);
        return this.count;
    }

    /** Removes the labels of targets. */
    unlabel(): Promise<unknown> {
        return this.each(this.scope.labeled, (pod, found) => this.unlabeling(pod, found));
    }

    /** Removes the labels by which a policy does not select targets. What fails is left to `unlabel`. */
    async unlabelUnselected(): Promise<void> {
        let areSelected = false;
        const look = async () => (areSelected = await this.areAllSelected().catch(() => false));
        await within(lookMs, look());
        if (areSelected) return;
        const workOn = (pod: ObjectReference, found: KubeObject | undefined) =>
            isAttacked(found) ? this.unlabeling(pod, found) : undefined;
        await this.each(this.scope.labeled, workOn, { failures: [] });
    }

    /** Whether no policy leaves out pods that are labeled `attacked`: none but experiments' own, which only allow. */
    private async areAllSelected(): Promise<boolean> {
        for (const policies of this.scope.policies ?? [])
            for await (const { found } of this.found(policies))
                if (!found || (!isExperimentPolicy(found) && isExempting(found))) return false;
        return true;
    }

    private unlabeling(pod: ObjectReference, found: KubeObject | undefined): Work {
        const event = endingOf(found);
        return async () => {
            await this.api.patch(pod, unlabeling);
            if (event) this.events.set(event.metadata.name, event);
        };
    }

    /** Says on the pods that have lost their labels that no attack is on them any more. Never rejects. */
    async sayEnded(): Promise<void> {
        const { api, scope } = this;
        await inTurns([...this.events.values()], maxCalls, async (event) => {
            // The account may lack the right, or somebody else has ended it at the same time.
            await api
                .create({ resource: otherResources.event, namespace: scope.namespace }, event)
                .catch(() => undefined);
        });
    }

    remove(some?: readonly Some[]): Promise<unknown> {
        return this.each(some, (object, found) => (isGoing(found) ? undefined : () => this.api.delete(object)));
    }

    restore(some?: readonly Some[]): Promise<unknown> {
        const workOn = (object: ObjectReference, found: KubeObject | undefined) => {
            const isNamed = found === undefined;
            return isNamed || this.loansOf(object, found).length > 0
                ? () => this.restoreOne(object, isNamed)
                : undefined;
        };
        return this.each(some, workOn, { atATime: maxRestored });
    }

    /**
     * Does something with each of some objects, with the next after one that fails, too.
     *
     * @param workOn undefined for one with which there is nothing to do. It keeps what it needs of the object: lists of
     *   large namespaces are read page by page
     * @param options.failures where what fails is noted. @default it is thrown at the end
     */
    async each(
        some: readonly Some[] = [],
        workOn: (object: ObjectReference, found: KubeObject | undefined) => Work | undefined,
        { failures = this.failures, atATime = maxCalls }: { failures?: unknown[]; atATime?: number } = {},
    ): Promise<void> {
        const works = new Map<string, Work>();
        const collect = async (one: Some) => {
            for await (const { object, found } of this.found(one)) {
                const work = workOn(object, found);
                if (work) works.set(`${object.resource.resource}/${object.name}`, work);
            }
        };
        const attempt = async (work: Work, counts: number) => {
            await work().then(
                () => (this.count += counts),
                (error: unknown) => failures.push(error),
            );
        };
        await Promise.all(some.map((one) => attempt(() => collect(one), 0)));
        await inTurns([...works.values()], atATime, (work) => attempt(work, 1));
    }

    /** The objects of some that are not being deleted. */
    async find(some: Some): Promise<ObjectReference[]> {
        const objects: ObjectReference[] = [];
        for await (const { object, found } of this.found(some)) if (!isGoing(found)) objects.push(object);
        return objects;
    }

    /** @returns what is asked for by its name is not read */
    private async *found(some: Some) {
        const { resource, name, labelSelector } = some;
        const { namespace } = this.scope;
        if (name !== undefined) yield { object: { resource, namespace, name }, found: undefined };
        else
            for await (const found of this.api.list(resource, { namespace, labelSelector }))
                if (some.only?.(found) ?? true)
                    yield { object: { resource, namespace, name: found.metadata!.name! }, found };
    }

    /** Restores all that is borrowed of an object. A list may lack what that takes: it is read. */
    private async restoreOne(object: ObjectReference, isNamed: boolean): Promise<void> {
        let found = await this.api.get(object);
        const failures: unknown[] = [];
        for (const loan of found ? this.loansOf(object, found, isNamed) : []) {
            const mayRestore = (current: KubeObject) => this.mayRestore(loan, current, isNamed);
            const restoring = restore(this.api, object, loan, mayRestore, found);
            const left = await restoring.catch((error: unknown) => void failures.push(error));
            if (left !== undefined) this.say(left);
            // The next is read again.
            found = undefined;
        }
        throwAll(failures);
    }

    private loansOf({ resource }: ObjectReference, object: KubeObject, isNamed = false): readonly Loan[] {
        return loansOn(resource, object).filter((loan) => this.mayRestore(loan, object, isNamed));
    }

    /**
     * Whether a loan of an object is to be restored: it may be another run's, which may have begun since.
     *
     * @param isNamed whether the run is known to change that object, even if it does not say by which run it is changed
     */
    private mayRestore(loan: Loan, object: KubeObject, isNamed: boolean): boolean {
        const { run } = this.scope;
        if (!isLent(loan, object)) return false;
        if (run === undefined) return true;
        const by = loan.notes.read(object)?.run;
        if (by !== undefined) return by === run;
        return isNamed && (loan.keeperOf?.(object)?.startsWith(`${run}-`) ?? true);
    }
}

const isGoing = (found: KubeObject | undefined) => found?.metadata?.deletionTimestamp !== undefined;

import * as pulumi from "@pulumi/pulumi";
import { setImmediate as nextTurn } from "node:timers/promises";
import { poll, within } from "../values/async";
import type { Cluster } from "../cluster/client";
import { problemOf } from "../cluster/problem";
import { type EndOptions, endRuns } from "../ending/end-run";
import type { LeaseOwner } from "../lease/lease-record";
import { experimentInState, haveRunIn, ifKnown, type InState, type ResourcesInState, resourcesInState } from "./stash";
import { describeValue } from "../values/texts";
import { UserError } from "../values/user-error";

/** Mistakes wait so long for attacks to end, in milliseconds: an end may itself wait for a resource. */
const patienceMs = 15_000;

/**
 * An experiment waits so long for the construction of one that runs, in milliseconds: the program may not have it any
 * more, or it may be that of another stack with the same name.
 */
const constructionMs = 5_000;

/**
 * What an update does before any of its program's experiments begins: the disabled ones end their attacks, then all
 * mistakes in the enabled ones are reported together. A mistake is not thrown in a constructor, because then the
 * program would not construct the components below, which may be disabled.
 *
 * Most programs construct their components in one turn of the event loop. If one waits in between, for example for a
 * file, mistakes below are reported later. The order of ending and beginning does not depend on turns: the leases name
 * the stack's running experiments, and none begins before the program has constructed these.
 */
export class FirstActs {
    private readonly endings: pulumi.Output<unknown>[] = [];
    private readonly earlier: pulumi.Output<string[]>[] = [];
    private readonly constructed = new Set<string>();
    private readonly components = new Set<string>();
    private readonly identities = new Map<string, string>();
    private experiments = 0;
    private readonly asked: Promise<void>[] = [];
    private resources?: Promise<ResourcesInState | undefined>;
    private mistakes: string[] = [];
    private reported?: UserError;

    /**
     * @param turn waits for components that the program constructs at about the same time
     * @param lateMs how long a mistake waits for the construction of all experiments that have run, in milliseconds: if
     * an error ends the program, those that are disabled further below would not end their attacks. @default 0
     */
    constructor(
        private readonly turn: () => Promise<unknown> = () => nextTurn(),
        private readonly lateMs = 0,
    ) {}

    /** @param leaseName as leases have it */
    add(name: string, leaseName = name): this {
        this.experiments++;
        this.components.add(name);
        this.constructed.add(leaseName);
        return this;
    }

    async inState(name: string): Promise<InState> {
        return experimentInState(await this.allInState(), name);
    }

    private allInState(): Promise<ResourcesInState | undefined> {
        return (this.resources ??= resourcesInState());
    }

    /** What is wrong with an identity that another experiment of the program has. */
    mistakeInIdentity(name: string, identity: string): string | undefined {
        const other = this.identities.get(identity);
        this.identities.set(identity, other ?? name);
        if (other === undefined) return undefined;
        return (
            `the experiments ${other} and ${name} have the same identity, ${describeValue(identity)}: it decides ` +
            "whose attacks an update ends. Remove `identity`: the stack's state then keeps one for each"
        );
    }

    /** Adds what ends the attacks of a disabled experiment, and never rejects. */
    end(ending: pulumi.Output<unknown>): void {
        this.endings.push(ending);
    }

    /**
     * Adds what ends the attack of an earlier plan of an enabled experiment. Mistakes do not wait for it.
     *
     * @param ending gives the other experiments that the stack runs
     */
    endEarlier(ending: pulumi.Output<string[]>): void {
        this.earlier.push(ending);
    }

    /**
     * Adds a mistake, which counts unless the update leaves the experiment out.
     *
     * @throws UserError with all mistakes, after the attacks of disabled experiments have ended
     */
    async refuse(mistake: string, isLeftOut: Promise<boolean>): Promise<void> {
        const add = async () => {
            if (!(await isLeftOut)) this.mistakes.push(mistake);
        };
        this.asked.push(add());
        if (!(await isLeftOut)) await this.fail();
    }

    /**
     * A value for an enabled experiment, once it may begin: the program has no mistakes, and the attacks of earlier
     * plans and of all disabled experiments have ended, since these may be in its namespace.
     */
    before(value: pulumi.Output<string>): pulumi.Output<string> {
        return pulumi.all([value, this.mayBegin()]).apply(async ([known]) => {
            // These are not combined as outputs: an end may know a secret, and depend on what a preview does not wait
            // for.
            const others = (await valuesOf(this.earlier)).flat();
            await poll(async () => others.every((one) => this.constructed.has(one)), Boolean, constructionMs);
            await Promise.all([valuesOf(this.endings), valuesOf(this.earlier)]);
            // A kubeconfig that has become known meanwhile may be a mistake.
            if (this.reported) throw this.reported;
            return known;
        });
    }

    private async mayBegin(): Promise<void> {
        await this.allConstructed();
        await Promise.all(this.asked);
        if (this.mistakes.length > 0 || this.reported) await this.fail();
    }

    /** @throws the same error to all callers, because the engine reports one error once */
    private async fail(): Promise<never> {
        await this.allConstructed();
        const missing = await this.missing();
        await Promise.all(this.asked);
        await within(patienceMs, valuesOf(this.endings));
        const unreported = this.mistakes;
        this.mistakes = [];
        if (unreported.length > 0) this.reported = new UserError([...unreported, ...missing].join("\n"));
        throw this.reported!;
    }

    /** What is not ended, since the program has not constructed it in time. */
    private async missing(): Promise<string[]> {
        if (this.lateMs === 0 || pulumi.runtime.isDryRun()) return [];
        const haveRun = haveRunIn(await this.allInState());
        const missing = () => haveRun.filter((name) => !this.components.has(name));
        await poll(
            async () => missing(),
            ({ length }) => length === 0,
            this.lateMs,
        );
        return missing().map(
            (name) =>
                `the experiment ${name} has run, and is not in the program, or too late: its attacks were not ended`,
        );
    }

    /** Waits for a turn, of the event loop in a program, that has constructed no other experiment. */
    private async allConstructed(): Promise<void> {
        let before: number;
        do {
            before = this.experiments;
            await this.turn();
        } while (this.experiments > before);
    }
}

/** The values of outputs, as far as the engine knows them. */
async function valuesOf<T>(outputs: readonly pulumi.Output<T>[]): Promise<T[]> {
    const known = await Promise.all(outputs.map((one) => ifKnown(one)));
    return known.flatMap((values) => [...values]);
}

/** The key is the program's monitor, because one process may run several programs, one after the other. */
const ofPrograms = new WeakMap<object, FirstActs>();

export function firstActs(): FirstActs {
    const program = pulumi.runtime.getMonitor() ?? ofPrograms;
    const acts = ofPrograms.get(program) ?? new FirstActs();
    ofPrograms.set(program, acts);
    return acts;
}

export const warnNotEnded = (of: string, problem: string) =>
    pulumi.log.warn(`The attacks of ${of} could not be ended first: ${problem}`);

/**
 * Ends a stack's runs before everything else, and reports whose attacks it has ended. It does not reject if they cannot
 * be ended, because the engine still deletes the attacks at the end of the update.
 *
 * @param options.failed is called with why they could not be ended
 */
export async function endAndReport(
    cluster: () => Cluster | Promise<Cluster>,
    owner: LeaseOwner,
    { failed, ...options }: EndOptions & { failed?: (problem: string) => Promise<void> },
): Promise<void> {
    try {
        const left: string[] = [];
        const ended = await endRuns(await cluster(), owner, { ...options, say: (message) => left.push(message) });
        if (ended.length > 0) await pulumi.log.info(`Ended the attacks of ${ended.join(" and ")}`);
        for (const message of left) await pulumi.log.info(message);
    } catch (error) {
        await failed?.(problemOf(error));
    }
}

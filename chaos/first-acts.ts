import * as pulumi from "@pulumi/pulumi";
import { setImmediate as turn } from "node:timers/promises";
import { within } from "./async";
import type { Cluster } from "./cluster/client";
import { problemOf } from "./cluster/problem";
import { type EndOptions, endRuns } from "./ending/end-run";
import type { LeaseOwner } from "./lifecycle/lease";
import { describeValue } from "./texts";
import { UserError } from "./user-error";

/** The construction of an experiment, which the program may not have come to. */
class Construction {
    end!: () => void;
    readonly ended = new Promise<void>((resolve) => (this.end = resolve));
}

/** How long mistakes wait for attacks to end, in milliseconds: what ends one may itself wait for a resource. */
const patienceMs = 15_000;

/**
 * How long an experiment waits for the construction of one that runs, in milliseconds: the program may have it no
 * longer, or it may be that of another stack with the same name.
 */
const constructionMs = 5_000;

/**
 * What an update does before any of its program's experiments begins: the disabled ones end their attacks, and then all
 * mistakes in the enabled ones are reported together. A mistake is no exception in a constructor: that would keep the
 * program from constructing the components below, which may be disabled.
 *
 * Most programs construct their components in one turn of the event loop. Of one that waits in between, for a file,
 * say, mistakes below are reported later. The order of ending and beginning does not rest on turns: the leases say
 * which experiments of the stack run, and none begins before the program has constructed these.
 */
export class FirstActs {
    private readonly endings: pulumi.Output<void>[] = [];
    private readonly earlier: pulumi.Output<string[]>[] = [];
    private readonly constructions = new Map<string, Construction>();
    private readonly identities = new Map<string, string>();
    private experiments = 0;
    private mistakes: string[] = [];
    private reported?: UserError;

    /** Adds an experiment that the program constructs. @param name as leases have it */
    add(name: string): this {
        this.experiments++;
        this.constructionOf(name).end();
        return this;
    }

    /** What is wrong with an identity that another experiment of the program has. Undefined if none has it. */
    mistakeInIdentity(name: string, identity: string): string | undefined {
        const other = this.identities.get(identity);
        this.identities.set(identity, other ?? name);
        if (other === undefined) return undefined;
        return (
            `the experiments ${other} and ${name} have the same identity, ${describeValue(identity)}: it decides ` +
            "whose attacks an update ends. Remove `identity`: the stack's state then keeps one for each"
        );
    }

    /** Adds what ends the attacks of a disabled experiment. It never rejects. */
    end(ending: pulumi.Output<void>): void {
        this.endings.push(ending);
    }

    /**
     * Adds what ends the attack of an earlier plan of an enabled experiment. Mistakes do not wait for it.
     *
     * @param ending has the other experiments that the stack runs
     */
    endEarlier(ending: pulumi.Output<string[]>): void {
        this.earlier.push(ending);
    }

    /** Adds a mistake. @throws UserError with all mistakes, after the attacks of disabled experiments have ended */
    refuse(mistake: string): Promise<never> {
        this.mistakes.push(mistake);
        return this.fail();
    }

    /**
     * A value for an enabled experiment, once it may begin: nothing in the program is a mistake, and the attacks of
     * earlier plans and of all disabled experiments have ended, since their namespace may be this one's.
     */
    before(value: pulumi.Output<string>): pulumi.Output<string> {
        const othersKnown = () =>
            pulumi.all(this.earlier).apply((others) => Promise.all(others.flat().map((one) => this.constructed(one))));
        const allEnded = () => pulumi.all([pulumi.all(this.endings), pulumi.all(this.earlier)]);
        return pulumi.all([value, this.mayBegin()]).apply(([known]) =>
            // What ends attacks may know a secret, and the value is none.
            pulumi.unsecret(othersKnown().apply(allEnded)).apply(() => {
                // Meanwhile a kubeconfig may have become known, and be a mistake.
                if (this.reported) throw this.reported;
                return known;
            }),
        );
    }

    private constructionOf(name: string): Construction {
        const construction = this.constructions.get(name) ?? new Construction();
        this.constructions.set(name, construction);
        return construction;
    }

    /** Ends when the program has constructed an experiment, or after a while. */
    private constructed(name: string): Promise<unknown> {
        return within(constructionMs, this.constructionOf(name).ended);
    }

    private async mayBegin(): Promise<void> {
        await this.allConstructed();
        if (this.mistakes.length > 0 || this.reported) await this.fail();
    }

    /** @throws the same error for all who ask: the engine reports one error once */
    private async fail(): Promise<never> {
        await this.allConstructed();
        await within(patienceMs, Promise.all(this.endings.map(ended)));
        const unreported = this.mistakes;
        this.mistakes = [];
        if (unreported.length > 0) this.reported = new UserError(unreported.join("\n"));
        throw this.reported!;
    }

    /** Ends after a turn of the event loop that has constructed no other experiment. */
    private async allConstructed(): Promise<void> {
        let before: number;
        do {
            before = this.experiments;
            await turn();
        } while (this.experiments > before);
    }
}

const ended = (ending: pulumi.Output<void>) => new Promise<void>((resolve) => void ending.apply(() => resolve()));

/** By what a program talks to: one process may run several programs, one after the other. */
const ofPrograms = new WeakMap<object, FirstActs>();

export function firstActs(): FirstActs {
    const program = pulumi.runtime.getMonitor() ?? ofPrograms;
    const acts = ofPrograms.get(program) ?? new FirstActs();
    ofPrograms.set(program, acts);
    return acts;
}

/**
 * Ends a stack's runs before everything else, and reports whose attacks it has ended. Never rejects: the engine still
 * deletes the attacks at the end of the update.
 *
 * @param options.of whose attacks could not be ended, for a warning. @default no warning
 */
export async function endAndReport(
    cluster: () => Cluster | Promise<Cluster>,
    owner: LeaseOwner,
    { of, ...options }: EndOptions & { of?: string },
): Promise<void> {
    try {
        const left: string[] = [];
        const ended = await endRuns(await cluster(), owner, { ...options, say: (message) => left.push(message) });
        if (ended.length > 0) await pulumi.log.info(`Ended the attacks of ${ended.join(" and ")}`);
        for (const message of left) await pulumi.log.info(message);
    } catch (error) {
        if (of !== undefined)
            await pulumi.log.warn(`The attacks of ${of} could not be ended first: ${problemOf(error)}`);
    }
}

import * as pulumi from "@pulumi/pulumi";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "./cluster/client";
import { problemOf } from "./cluster/problem";
import { type EndOptions, endRuns } from "./ending/end-run";
import type { LeaseOwner } from "./lifecycle/lease";

class MistakeError extends pulumi.RunError {
    constructor(message: string) {
        super(message);
        this.stack = message;
    }
}

/** How long mistakes wait for attacks to end, in milliseconds: what ends one may itself wait for a resource. */
const patienceMs = 15_000;

/**
 * What an update does before any of its program's experiments begins: the disabled ones end their attacks, and then all
 * mistakes in the enabled ones are reported together. A mistake is no exception in a constructor: that would keep the
 * program from constructing the components below, which may be disabled.
 *
 * A program constructs its components in one turn of the event loop. One that waits in between, for a file, say, is
 * heard as far as it has come: then mistakes below are reported later.
 */
export class FirstActs {
    private readonly endings: pulumi.Output<void>[] = [];
    private readonly earlier: pulumi.Output<void>[] = [];
    private experiments = 0;
    private mistakes: string[] = [];
    private reported?: MistakeError;

    add(): this {
        this.experiments++;
        return this;
    }

    /** Adds what ends the attacks of a disabled experiment. It never rejects. */
    end(ending: pulumi.Output<void>): void {
        this.endings.push(ending);
    }

    /** Adds what ends the attack of an earlier plan of an enabled experiment. Mistakes do not wait for it. */
    endEarlier(ending: pulumi.Output<void>): void {
        this.earlier.push(ending);
    }

    /** Adds a mistake. @throws RunError with all mistakes, after the attacks of disabled experiments have ended */
    refuse(mistake: string): Promise<never> {
        this.mistakes.push(mistake);
        return this.fail();
    }

    /**
     * A value for an enabled experiment, once it may begin: nothing in the program is a mistake, and the attacks of
     * earlier plans and of all disabled experiments have ended, since their namespace may be this one's.
     */
    before(value: pulumi.Output<string>): pulumi.Output<string> {
        return pulumi.all([value, this.mayBegin()]).apply(([known]) =>
            // What ends attacks may know a secret, and the value is none.
            pulumi.unsecret(pulumi.all([...this.endings, ...this.earlier])).apply(() => {
                // Meanwhile a kubeconfig may have become known, and be a mistake.
                if (this.reported) throw this.reported;
                return known;
            }),
        );
    }

    private async mayBegin(): Promise<void> {
        await this.constructed();
        if (this.mistakes.length > 0 || this.reported) await this.fail();
    }

    /** @throws the same error for all who ask: the engine reports one error once */
    private async fail(): Promise<never> {
        await this.constructed();
        const timeout = new AbortController();
        const patience = sleep(patienceMs, undefined, timeout).catch(() => undefined);
        await Promise.race([Promise.all(this.endings.map(ended)), patience]);
        timeout.abort();
        const unreported = this.mistakes;
        this.mistakes = [];
        if (unreported.length > 0) this.reported = new MistakeError(unreported.join("\n"));
        throw this.reported!;
    }

    /** Ends after a turn of the event loop that has constructed no other experiment. */
    private async constructed(): Promise<void> {
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
    return acts.add();
}

/**
 * Ends a stack's runs before everything else, and reports whose attacks it has ended. Never rejects: the engine still
 * deletes the attacks at the end of the update.
 *
 * @param options.of whose attacks could not be ended, for a warning. @default no warning
 */
export async function endAndReport(
    cluster: () => Cluster,
    owner: LeaseOwner,
    { of, ...options }: EndOptions & { of?: string },
): Promise<void> {
    try {
        const left: string[] = [];
        const ended = await endRuns(cluster(), owner, { ...options, say: (message) => left.push(message) });
        if (ended.length > 0) await pulumi.log.info(`Ended the attacks of ${ended.join(" and ")}`);
        for (const message of left) await pulumi.log.info(message);
    } catch (error) {
        if (of !== undefined)
            await pulumi.log.warn(`The attacks of ${of} could not be ended first: ${problemOf(error)}`);
    }
}

import * as pulumi from "@pulumi/pulumi";
import { setTimeout as sleep } from "node:timers/promises";

/** Mistakes of the person who wrote the program. Their message has no stack trace. */
class MistakeError extends pulumi.RunError {
    constructor(message: string) {
        super(message);
        this.stack = message;
    }
}

/**
 * How long a program is given to construct its components, in milliseconds: it may read files in between. By then the
 * SDK listens to its outputs, too; else Node would warn of rejections that are handled late.
 */
const constructionMs = 100;

/** How long mistakes wait for attacks to end, in milliseconds: what ends one may itself wait for a resource. */
const patienceMs = 15_000;

/**
 * What an update does before any of its program's experiments begins: the disabled ones end their attacks, and then all
 * mistakes in the enabled ones are told together. A mistake is no exception in a constructor: that would keep the
 * program from constructing the components below, which may be disabled.
 */
export class FirstActs {
    private readonly endings: pulumi.Output<void>[] = [];
    private readonly earlier: pulumi.Output<void>[] = [];
    private mistakes: string[] = [];
    private told?: MistakeError;

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
     * earlier plans and of the disabled experiments above it have ended, since their namespace may be this one's.
     */
    before(value: pulumi.Output<string>): pulumi.Output<string> {
        // They know kubeconfigs, which are secret. The value is not.
        const ended = pulumi.unsecret(pulumi.all([...this.endings, ...this.earlier]));
        return pulumi.all([value, this.withoutMistakes(), ended]).apply(([known]) => known);
    }

    private async withoutMistakes(): Promise<void> {
        await sleep(constructionMs);
        if (this.mistakes.length > 0 || this.told) await this.fail();
    }

    /** @throws the same error for all who ask: the engine tells one error once */
    private async fail(): Promise<never> {
        await sleep(constructionMs);
        const ended = this.endings.map((ending) => new Promise<void>((resolve) => void ending.apply(() => resolve())));
        const timeout = new AbortController();
        await Promise.race([Promise.all(ended), sleep(patienceMs, undefined, timeout).catch(() => undefined)]);
        timeout.abort();
        const untold = this.mistakes;
        this.mistakes = [];
        if (untold.length > 0) this.told = new MistakeError(untold.join("\n"));
        throw this.told!;
    }
}

/** By what a program talks to: one process may run several programs, one after the other. */
const ofPrograms = new WeakMap<object, FirstActs>();

/** Those of the program that runs now. */
export function firstActs(): FirstActs {
    const program = pulumi.runtime.getMonitor() ?? ofPrograms;
    const acts = ofPrograms.get(program) ?? new FirstActs();
    ofPrograms.set(program, acts);
    return acts;
}

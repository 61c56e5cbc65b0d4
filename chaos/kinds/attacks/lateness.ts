import type { JobContext } from "./job-part";

/** Reports what is due, and cannot be done for a time: once, until it can be done again. */
export class Lateness {
    private since?: number;
    private isReported = false;

    /**
     * @param what is due, as in "the kill"
     * @param maxMs shorter delays are not reported, in milliseconds
     */
    constructor(
        private readonly context: Pick<JobContext, "missed">,
        private readonly what: string,
        private readonly maxMs: number,
    ) {}

    /** @param problem why it cannot be done, at first since `at`. Undefined if it can be */
    due(at: number, problem: Error | string | undefined): void {
        if (problem === undefined) {
            this.since = undefined;
            this.isReported = false;
            return;
        }
        this.since ??= at;
        const forMs = Date.now() - this.since;
        if (this.isReported || forMs < this.maxMs) return;
        this.isReported = true;
        const words = problem instanceof Error ? problem.message : problem;
        this.context.missed({ at: this.since, what: this.what, forMs, problem: words });
    }
}

import type { EngineEvent } from "@pulumi/pulumi/automation";
import { findRuns } from "../../report/journal-files";
import { pageOf, type ReportedRun } from "../../report/reported-run";
import { verdictLine } from "../../values/reasons";
import type { Interruption } from "../interruption";
import { UpdateProgress } from "../progress";
import type { Repeatable } from "../series";
import { undoRun, wholeRun } from "../whole-run";
import { type Previewed, previewedOf } from "./previewed";
import type { ProgramStack } from "./program-stack";

/** An experiment of a stack's program, enabled and disabled without its settings; see `AskedRun`. */
export class RepeatedExperiment implements Repeatable<ReportedRun> {
    /** Whether the program may have changed since its last preview: a series may take hours. */
    private mayHaveChanged = false;

    private constructor(
        private readonly stack: ProgramStack,
        private readonly experiment: string,
        private readonly interruption: Interruption,
        private readonly previewed: Previewed,
        private readonly print: (line: string) => void,
    ) {}

    /** Previews a run. @throws Error with what keeps it from beginning: nothing has been touched */
    static async preview(
        stack: ProgramStack,
        experiment: string,
        interruption: Interruption,
        print: (line: string) => void,
    ): Promise<RepeatedExperiment> {
        print(`Previewing a run of ${experiment} in stack ${stack.name}`);
        const previewed = await previewOf(stack, experiment);
        for (const line of previewed.lines) print(`  ${line}`);
        return new RepeatedExperiment(stack, experiment, interruption, previewed, print);
    }

    get settings(): string {
        return this.previewed.settings;
    }

    get reports(): string {
        return this.previewed.reports;
    }

    get interrupted(): boolean {
        return this.interruption.happened;
    }

    earlier(): ReportedRun[] {
        return findRuns([this.reports]).runs.filter(({ journal }) => journal !== undefined);
    }

    /** @throws Error if the program would do another run by now, or change anything else: nothing has begun */
    async run(run: string): Promise<ReportedRun> {
        const { experiment } = this;
        if (this.mayHaveChanged) await this.previewAgain();
        this.mayHaveChanged = true;
        const { made } = await wholeRun({
            ...{ experiment, run, reports: this.reports, interruption: this.interruption },
            enable: () => this.update(true, run),
            undo: (why) => this.undo(why),
        });
        if (made.journal) {
            this.print(`  Verdict        ${verdictLine(made.journal.conclusion)}`);
            this.print(`  Report         ${pageOf(made)}`);
        } else if (!this.interrupted) this.print(`The run failed: ${made.error}`);
        return made;
    }

    undo(error?: string): Promise<string | undefined> {
        return undoRun(() => this.update(false, "undone"), this.interruption, this.print, error);
    }

    private async previewAgain(): Promise<void> {
        let definition: string;
        try {
            ({ definition } = await previewOf(this.stack, this.experiment));
        } catch (error) {
            // Then nothing is wrong with the program.
            if (this.interrupted) return;
            throw error;
        }
        if (definition !== this.previewed.definition)
            throw new Error(
                `the program has changed ${this.experiment} since the series began, so no other run of it can be ` +
                    "made; begin another series",
            );
    }

    private async update(enabled: boolean, run: string): Promise<void> {
        const progress = new UpdateProgress(this.print);
        try {
            await this.stack.up({ experiment: this.experiment, enabled, run }, progress.onEvent);
        } finally {
            progress.end();
        }
    }
}

/** @throws Error with what keeps a run from beginning */
async function previewOf(stack: ProgramStack, experiment: string): Promise<Previewed> {
    const events: EngineEvent[] = [];
    await stack.preview({ experiment, enabled: true, run: "previewed" }, (event) => events.push(event));
    return previewedOf(events, experiment, `pulumi up --stack ${stack.name}`);
}

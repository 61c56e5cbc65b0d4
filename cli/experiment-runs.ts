import { overrides, settings } from "../components/configuration/settings";
import { Interruption } from "../chaos/cli/interruption";
import type { Repeatable } from "../chaos/cli/series";
import { undoRun, wholeRun } from "../chaos/cli/whole-run";
import { findRuns } from "../chaos/report/journal-files";
import type { Journal } from "../chaos/report/journal-schema";
import type { ReportedRun } from "../chaos/report/reported-run";
import { npmCommand } from "../components/pulumi-command";
import { reportsFolder } from "../experiments/reports-folder";
import { commandVariable } from "../experiments/run";
import { savedExperiments } from "../experiments/saved";
import { type Expectation, expectationOf, type Lesson } from "../experiments/story";
import { describeRequests, rateOf } from "../chaos/report/rates";
import { sinceAttack, sinceUndone } from "../chaos/values/since";
import { hashOf, isAttack } from "../chaos/definition/plan";
import { pageOfReason, verdictLine } from "../chaos/values/reasons";
import { fitting, lessonLines, runnableInTurn } from "./experiment-list";
import { AnswersFile, type LiveWindow } from "./live-window";
import { mistakesInExperiment } from "./offline-configuration";
import { Session } from "./session";
import { withShellSetup } from "./shell-setup";

export interface Outcome extends ReportedRun {
    /** What the run should conclude. Undefined if that is unknown. */
    expected?: Expectation;
}

/** Complete runs of experiments on one stack: each is enabled, shown, reported and undone. */
export class ExperimentRuns {
    private readonly interruption: Interruption;

    private constructor(
        private readonly stack: string,
        private readonly session: Session,
        private readonly window: LiveWindow,
    ) {
        this.interruption = new Interruption(session, window.print);
    }

    static async open(stack: string, window: LiveWindow): Promise<ExperimentRuns> {
        return new ExperimentRuns(stack, await Session.open(stack, window.print), window);
    }

    /**
     * Names of the saved experiments that run on a variant, one after the other.
     *
     * @param only of these lessons. Of all if it is empty
     * @param variant @default the stack's
     * @throws Error if there is none
     */
    fitting(only: readonly Lesson[], variant?: string): string[] {
        const has = variant ?? this.session.settings["variant"] ?? settings.variant.default;
        const names = runnableInTurn(fitting(has), only).map(({ name }) => name);
        if (names.length > 0) return names;
        throw new Error(
            `no saved experiment of the lesson ${only.join(" or ")} runs on variant ${has}; ` +
                "npm run experiment -- --list shows the variants",
        );
    }

    get interrupted(): boolean {
        return this.interruption.happened;
    }

    /**
     * Finds the mistakes in the settings of a run, for which both of its updates would fail, or would delete the
     * installed shop, and prints them.
     */
    async tellMistakes(changes: Record<string, string>): Promise<string | undefined> {
        const mistakes =
            mistakesInExperiment(this.session.settings, changes, this.stack) ??
            (await this.session.mistakesInMove(changes));
        if (mistakes !== undefined) this.window.print(`\nNot begun: ${mistakes}`);
        return mistakes;
    }

    /** The runs of an experiment with the same settings, in the same cluster. */
    async repeatable(changes: Record<string, string>): Promise<Repeatable<Outcome>> {
        const settings = await this.tokenOf(changes);
        const isInterrupted = () => this.interrupted;
        return {
            settings,
            earlier: () => this.earlier(changes),
            get interrupted() {
                return isInterrupted();
            },
            run: (name) => this.whole({ ...changes, "experiment.run": name }),
            undo: () => this.undo(),
        };
    }

    /** Distinguishes stacks, clusters and settings, without those that change between the runs of a series. */
    private async tokenOf(changes: Record<string, string>): Promise<string> {
        const { "experiment.enabled": _, "experiment.run": __, ...same } = this.settingsWith(changes);
        return hashOf(JSON.stringify([this.stack, await this.session.clusterUid(), Object.entries(same).sort()]));
    }

    private earlier(changes: Record<string, string>): Outcome[] {
        const experiment = this.experimentIn(changes);
        const { expected } = this.expectationOf(experiment, changes);
        const { runs } = findRuns([reportsFolder]);
        return runs.filter((run) => run.journal && run.experiment === experiment).map((run) => ({ ...run, expected }));
    }

    private settingsWith(changes: Record<string, string>): Record<string, string> {
        return { ...this.session.settings, ...changes };
    }

    private experimentIn(changes: Record<string, string>): string {
        return this.settingsWith(changes)["experiment.name"] ?? settings["experiment.name"].default;
    }

    private expectationOf(experiment: string, changes: Record<string, string> = {}) {
        const story = savedExperiments().find(({ name }) => name === experiment)?.story;
        const has = this.settingsWith(changes);
        const setting = (key: string) => has[key];
        return { story, setting, expected: story && expectationOf(story, setting, overrides) };
    }

    /** Runs an experiment. Undoes it in any case, or returns why that failed. */
    async whole(changes: Record<string, string>): Promise<Outcome> {
        const run = changes["experiment.run"] ?? new Date().toISOString();
        const experiment = this.experimentIn(changes);
        this.window.print(`\nRunning ${experiment}`);
        const { made, error } = await wholeRun({
            ...{ experiment, run, reports: reportsFolder, interruption: this.interruption },
            enable: () => this.enable({ ...changes, "experiment.run": run }),
            undo: (why) => this.undo(why),
        });
        const { journal } = made;
        const { story, setting, expected } = this.expectationOf(experiment);
        if (journal) {
            // The update's error says what to do.
            if (journal.conclusion.verdict === "ABORTED") this.window.print(withShellSetup(error ?? ""));
            this.report(journal);
            if (story && expected) lessonLines(story, expected, journal.conclusion, setting).forEach(this.window.print);
        } else if (!this.interrupted) this.window.print(`The run failed: ${withShellSetup(made.error!)}`);
        return { ...made, expected };
    }

    private async enable(changes: Record<string, string>): Promise<void> {
        const answers = new AnswersFile((seen) => this.window.showAnswers(seen));
        try {
            process.env[commandVariable] = commandOf(changes, this.stack);
            await this.session.up({ ...changes, "experiment.enabled": "true" });
        } finally {
            answers.close();
            this.window.showAnswers([]);
        }
    }

    /** @param error why the run failed. @returns why it could not be undone */
    undo(error?: string): Promise<string | undefined> {
        const disable = () => this.session.up({ "experiment.enabled": "false" });
        return undoRun(disable, this.interruption, this.window.print, error);
    }

    close(): void {
        this.session.close();
    }

    private report(journal: Journal): void {
        const { plan, conclusion, recovery } = journal;
        const { print } = this.window;
        const underAttack = isAttack(plan);
        print(`\n  Targets        ${conclusion.targets.join(", ") || "none"}`);
        print(`  Requests       ${describeRequests(journal)}`);
        print(`  First failure  ${sinceAttack(conclusion.timeToFirstFailureMs, underAttack)}`);
        print(`  Stable         ${sinceAttack(conclusion.timeToStabilityMs, underAttack)}`);
        for (const { attack, direction, became } of conclusion.established ?? [])
            if (direction) print(`  Established    ${became} (${direction}, ${attack})`);
        if (conclusion.checks.length > 1)
            for (const { name, held, ...rate } of conclusion.checks)
                print(`  Check          ${name}: ${rateOf(rate)} succeeded, ${held ? "held" : "did not hold"}`);
        for (const action of conclusion.actions) print(`  Action         ${action}`);
        if (recovery) print(`  Recovered      ${sinceUndone(recovery, underAttack)}`);
        print(`  Verdict        ${verdictLine(conclusion)}`);
        if (conclusion.code) print(`  What to do     ${pageOfReason(conclusion.code)}`);
        // The update has printed what was seen, what the command changes, and how to show it.
        const advised = (conclusion.advice ?? []).map(({ command }) => `  What may help  ${command}`);
        if (advised.length > 0) print(withShellSetup(advised.join("\n")));
        print(`  Report         ${conclusion.journal.replace(/json$/, "html")}`);
    }
}

/** The command that does a run with some settings: each of its runs is another one. */
export function commandOf(changes: Record<string, string>, stack: string): string {
    const { "experiment.name": name, "experiment.run": _, "experiment.enabled": __, ...set } = changes;
    const options = Object.entries(set).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
    return npmCommand(["experiment", "--", ...(name === undefined ? [] : [name]), ...options], stack);
}

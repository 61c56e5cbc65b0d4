import { findRuns } from "../report/journal-files";
import type { ReportedRun } from "../report/reported-run";
import type { Interruption } from "./interruption";
import { plainError, whyNotUndone } from "./plain-error";

interface Whole extends Pick<ReportedRun, "experiment"> {
    /** The run's name. */
    run: string;
    /** Folder of the reports. */
    reports: string;
    /** The update that makes the run. */
    enable: () => Promise<unknown>;
    /** @param error why that failed. @returns why it could not be undone */
    undo: (error: string | undefined) => Promise<string | undefined>;
    interruption: Pick<Interruption, "check">;
}

/** Makes a run and undoes it in any case. @returns the run, and why its update failed, also if it has a journal */
export async function wholeRun(whole: Whole): Promise<{ made: ReportedRun; error?: string }> {
    const { experiment, run, reports, enable, undo, interruption } = whole;
    const startedAt = Date.now();
    let error: string | undefined;
    try {
        interruption.check();
        await enable();
    } catch (failure) {
        error = plainError(failure);
    }
    const notUndone = await undo(error);
    const { runs } = findRuns([reports], { since: startedAt, run });
    const concluded = runs.findLast(({ journal }) => journal !== undefined);
    const made = concluded ?? {
        ...{ experiment, run, startedAt, durationMs: Date.now() - startedAt },
        error: error ?? "it wrote no journal",
    };
    return { made: { ...made, notUndone }, error };
}

/** Undoes a run, also through interruptions. @param error why the run failed. @returns why it could not be undone */
export function undoRun(
    disable: () => Promise<void>,
    interruption: Pick<Interruption, "throughout">,
    print: (line: string) => void,
    error?: string,
): Promise<string | undefined> {
    print("Undoing it");
    return interruption.throughout(disable).then(
        () => undefined,
        (failure: unknown) => whyNotUndone(failure, error),
    );
}

import { junitXml } from "./junit";
import { replaceFile } from "./output-files";
import type { ReportedRun } from "./reported-run";
import { summaryMarkdown } from "./summary";

/** Paths of the reports for continuous integration. Undefined if one is not wanted. */
export interface CiFiles {
    /** The JUnit XML file. */
    junit?: string;
    /** The Markdown file. */
    summary?: string;
}

/**
 * Writes the reports of some runs.
 *
 * @returns the paths of what was written
 * @throws Error if a file cannot be written
 */
export function writeCiFiles({ junit, summary }: CiFiles, runs: readonly ReportedRun[]): string[] {
    if (junit !== undefined) replaceFile(junit, junitXml(runs));
    if (summary !== undefined) replaceFile(summary, summaryMarkdown(runs));
    return [junit, summary].filter((path) => path !== undefined);
}

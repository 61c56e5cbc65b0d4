/** How a run ended, as `npm run experiment` tells it. */
export interface Ending {
    verdict: string;
    /** Names of the checks that did not hold. Undefined if the run had one check, which is not told apart. */
    failing?: string[];
}

/** Reads what `npm run experiment` prints at the end of a run. Undefined if that has no verdict. */
export function endingIn(output: string): Ending | undefined {
    const verdict = /^ +Verdict +([A-Z]+):/m.exec(output)?.[1];
    if (verdict === undefined) return undefined;
    const checks = [...output.matchAll(/^ +Check +(.+): \S+ succeeded, (held|did not hold)$/gm)];
    const failing = checks.filter(([, , held]) => held !== "held").map(([, name]) => name!);
    return checks.length === 0 ? { verdict } : { verdict, failing: failing.sort() };
}

/**
 * What the page says instead, for people. Undefined if a run ended as on the page.
 *
 * @param mayPass whether a FAILED of the page may also be PASSED. @default false
 */
export function differenceFromPage(page: Ending, run: Ending | undefined, mayPass = false): string | undefined {
    if (run === undefined) return `the page has ${page.verdict}`;
    if (run.verdict === "PASSED" && page.verdict === "FAILED" && mayPass) return undefined;
    if (run.verdict !== page.verdict) return `the page has ${page.verdict}`;
    const [there, here] = [page, run].map(({ failing }) => failing?.join(", "));
    return there === here ? undefined : `on the page, these checks fail: ${there || "none"}`;
}

import { describe, inject, it } from "vitest";

/** A test of what does not depend on the network, which one network is enough for. */
export function itOnce(title: string, test: () => Promise<unknown>, timeoutMs?: number): void {
    if (!inject("onlyNetwork")) it(title, test, timeoutMs);
}

/** Tests of what does not depend on the network. */
export function describeOnce(title: string, tests: () => void): void {
    if (!inject("onlyNetwork")) describe(title, tests);
}

/** A test that only `npm run test:all` runs. */
export function itInAll(title: string, test: () => Promise<unknown>, timeoutMs?: number): void {
    if (inject("all")) it(title, test, timeoutMs);
}

/** Tests that only `npm run test:all` runs. */
export function describeInAll(title: string, tests: () => void): void {
    if (inject("all")) describe(title, tests);
}

/** The cases of a test: `npm test` runs those that show the most. */
export function casesOf<Case>(usual: readonly Case[], more: readonly Case[]): Case[] {
    return inject("all") ? [...usual, ...more] : [...usual];
}

import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";
import { describe } from "vitest";
import { whyNotInstalled } from "./debian";

const PROGRAM = "/usr/bin/chromium";

/** A group of tests that need the real Chromium; its title says why if they are skipped. */
export function describeInChromium(title: string, tests: () => void): void {
    const reason = whyNotInstalled("Chromium", "chromium", () => existsSync(PROGRAM));
    describe.skipIf(reason !== undefined)(reason === undefined ? title : `${title} (skipped: ${reason})`, tests);
}

/** A headless Chromium. Its own sandbox does not run as root, which the tests may be. */
export const openBrowser = (): Promise<Browser> =>
    chromium.launch({ executablePath: PROGRAM, chromiumSandbox: process.getuid?.() !== 0 });

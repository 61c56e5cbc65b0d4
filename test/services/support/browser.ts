import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";
import { describeUnless, whyNotInstalled } from "./debian";

const PROGRAM = "/usr/bin/chromium";

/** A group of tests that need Chromium. */
export function describeInChromium(title: string, tests: () => void): void {
    const reason = whyNotInstalled("Chromium", "chromium", () => existsSync(PROGRAM));
    describeUnless(reason, title, tests);
}

/** A headless Chromium. Its sandbox does not work for root. */
export const openBrowser = (): Promise<Browser> =>
    chromium.launch({ executablePath: PROGRAM, chromiumSandbox: process.getuid?.() !== 0 });

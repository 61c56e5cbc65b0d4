import type { AxeResults } from "axe-core";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium, type Browser, type Page } from "playwright-core";
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

const axe = readFileSync(createRequire(__filename).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds wrong in a page, each with where. */
export async function barriers(page: Page): Promise<string[]> {
    await page.evaluate(axe);
    const { violations } = await page.evaluate<AxeResults>("axe.run()");
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(", ")}`);
}

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { project } from "../../../cli/stack-file";
import { barriers, describeInChromium, openBrowser } from "../../services/support/browser";
import { giveBack, sharedStack } from "../shop/shared";
import { quick, type TestStack } from "../shop/support";

const screenshots = join(project, "reports", "screenshots");

describeInChromium("the shop's page, in Chromium", () => {
    let stack: TestStack;
    let browser: Browser;
    let page: Page;
    beforeAll(async () => {
        mkdirSync(screenshots, { recursive: true });
        stack = await sharedStack();
        const outputs = await stack.outputs();
        browser = await openBrowser();
        page = await browser.newPage({ viewport: { width: 1_200, height: 900 }, reducedMotion: "reduce" });
        await page.goto((outputs.productsUrl!.value as string).replace(/products$/, ""));
    });
    afterAll(async () => {
        await browser?.close();
        await giveBack(stack);
    });

    const text = (selector: string) => page.textContent(selector);
    const shows = (selector: string, words: RegExp) =>
        expect.poll(() => text(selector), { timeout: 20_000 }).toMatch(words);
    /** The row of the table of calls: it begins with caller and callee, with their attacks. */
    const calls = (edge: string) => page.locator("#calls-table tr", { hasText: edge });
    const row = (edge: string, words: RegExp) =>
        expect
            .poll(async () => (await calls(edge).textContent())?.replace(/\s+/g, " "), { timeout: 20_000 })
            .toMatch(words);
    /** A picture at the width of a desktop and of a phone. */
    const keepBoth = async (name: string) => {
        for (const width of [1_280, 360]) {
            await page.setViewportSize({ width, height: 900 });
            expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
            // The picture is drawn for the new width with the next answer.
            await page.waitForTimeout(4_000);
            await keep(`${name}-${width}`);
        }
        await page.setViewportSize({ width: 1_200, height: 900 });
    };
    const keep = (name: string) => page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });

    it("shows three departments with their products, each up, and no attack", async () => {
        await shows("#listing", /is complete/);
        for (const department of ["FASHION", "TOYS", "HOT_DEALS"]) {
            await shows(`#${department} .state`, /Up\s+\d+ ms/);
            expect(await page.locator(`#${department} li`).count()).toBeGreaterThan(0);
        }
        await row("gateway to hot-deals", /[\d.]+\/s [\d.]+ ms 0%/);
        await row("hot-deals to database", /[\d.]+\/s [\d.]+ ms 0%/);
        await shows("#calls-word", /^No known call fails\.$/);
        expect([await page.locator("#calls-table tr").count(), await page.locator("#graph .attacked").count()]).toEqual(
            [6, 0],
        );
        await shows("#variant", /four/);
        await shows("#attack", /^none$/);
        await shows("#no-orders", /variant seven/);
        expect([await page.isVisible("#order"), await page.locator(".add:visible").count()]).toEqual([false, 0]);
        await keep("whole");
    });

    it("shows during an attack that the listing fails, that hot deals is down, and which pod is isolated", async () => {
        const { targets } = await stack.run({ ...quick, "experiment.enabled": "true" });
        await shows("#listing", /fails with 50\d/);
        await shows("#HOT_DEALS .state", /Down/);
        await shows("#FASHION .state", /Up/);
        await shows("#attack", /^hot-deals is isolated$/);
        await shows("#HOT_DEALS .attack", new RegExp(`isolated\n${targets[0]!.split("/")[1]!}`));
        await shows("#announcement", /Down: Hot deals/);
        await row("gateway to hot-deals (isolated)", /100%/);
        await row("hot-deals (isolated) to database", /not known/);
        await row("fashion-bestseller to database", / 0%/);
        await shows("#calls-word", /^Failing: gateway to hot-deals\.$/);
        await shows("#graph .attacked", /^hot-dealsattacked$/);
        await keepBoth("hot-deals-isolated");
    });

    it("shows the recovery without a reload", async () => {
        await stack.up({ "experiment.enabled": "false" });
        await shows("#listing", /is complete/);
        await shows("#HOT_DEALS .state", /Up/);
        await shows("#attack", /^none$/);
        await shows("#calls-word", /^No known call fails\.$/);
        expect(await page.locator("#graph .attacked").count()).toBe(0);
        await keep("recovered");
    });

    it("offers orders in variant seven without a reload, and follows an order until it is fulfilled", async () => {
        await stack.up({ variant: "seven" });
        await shows("#variant", /seven/);
        expect(await page.isVisible("#no-orders")).toBe(false);
        await page.locator(".add").first().click();
        await page.click(".place");
        await shows("#placed li:first-child", /Fulfilled after/);
        await row("gateway to orders", /[\d.]+\/s [\d.]+ ms 0%/);
        await row("orders to message-broker", /[\d.]+\/s [\d.]+ ms 0%/);
        await row("inventory to message-broker", /not known/);
        await keepBoth("order-fulfilled");
    });

    it("passes axe-core's checks with an order in both schemes, and is no wider than a phone's screen", async () => {
        await page.locator(".add").last().click();
        await page.setViewportSize({ width: 390, height: 844 });
        for (const colorScheme of ["light", "dark"] as const) {
            await page.emulateMedia({ colorScheme });
            expect(await barriers(page)).toEqual([]);
        }
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
        await keep("order-phone");
    });

    it("sends requests only to the gateway, and does not violate its content security policy", async () => {
        const asked: string[] = [];
        const complaints: string[] = [];
        page.on("request", (request) => asked.push(new URL(request.url()).host));
        page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
        await page.reload();
        await shows("#listing", /is complete/);
        expect(new Set(asked)).toEqual(new Set([new URL(page.url()).host]));
        expect(complaints).toEqual([]);
    });
});

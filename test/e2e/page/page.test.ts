import type { AxeResults } from "axe-core";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { scale } from "../../../cli/shop";
import { project } from "../../../cli/stack-file";
import { describeInChromium, openBrowser } from "../../services/support/browser";
import { itInAll } from "../which-tests";
import { giveBack, sharedStack } from "../shop/shared";
import { quick, type TestStack } from "../shop/support";
import { until } from "../../support/until";

const screenshots = join(project, "reports", "screenshots");
const axe = readFileSync(createRequire(__filename).resolve("axe-core/axe.min.js"), "utf8");

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
    const keep = (name: string) => page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });

    /** What axe-core finds wrong, each with where. */
    async function barriers(): Promise<string[]> {
        await page.evaluate(axe);
        const { violations } = await page.evaluate<AxeResults>("axe.run()");
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(", ")}`);
    }

    it("shows three departments with their products, each up, and no attack", async () => {
        await shows("#listing", /is complete/);
        for (const department of ["FASHION", "TOYS", "HOT_DEALS"]) {
            await shows(`#${department} .state`, /Up\s+\d+ ms/);
            expect(await page.locator(`#${department} li`).count()).toBeGreaterThan(0);
        }
        await shows("#variant", /four/);
        await shows("#attack", /^none$/);
        await shows("#no-orders", /variant seven/);
        expect([await page.isVisible("#order"), await page.locator(".add:visible").count()]).toEqual([false, 0]);
        await keep("whole");
    });

    it("shows during an attack that the listing fails, that hot deals is down, and which pod is isolated", async () => {
        const { outputs } = await stack.up({ ...quick, "experiment.enabled": "true" });
        const [target] = (outputs.experiment!.value as { targets: string[] }).targets;
        await shows("#listing", /fails with 50\d/);
        await shows("#HOT_DEALS .state", /Down/);
        await shows("#FASHION .state", /Up/);
        await shows("#attack", /^hot-deals is isolated$/);
        await shows("#HOT_DEALS .attack", new RegExp(`isolated\n${target!.split("/")[1]!}`));
        await shows("#announcement", /Down: Hot deals/);
        await keep("hot-deals-isolated");
    });

    it.each(["light", "dark"] as const)("passes axe-core's checks in the %s scheme", async (colorScheme) => {
        await page.emulateMedia({ colorScheme });
        await keep(`hot-deals-isolated-${colorScheme}`);
        expect(await barriers()).toEqual([]);
    });

    it("is no wider than a phone's screen", async () => {
        await page.setViewportSize({ width: 390, height: 844 });
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
        await keep("phone");
        await page.setViewportSize({ width: 1_200, height: 900 });
    });

    it("shows the recovery without a reload", async () => {
        await stack.up({ "experiment.enabled": "false" });
        await shows("#listing", /is complete/);
        await shows("#HOT_DEALS .state", /Up/);
        await shows("#attack", /^none$/);
        await keep("recovered");
    });

    const placeOne = async () => {
        await page.locator(".add").first().click();
        await page.click(".place");
    };
    /** Of the order that was placed last. */
    const placed = "#placed li:first-child";

    it("offers orders in variant seven without a reload, and follows an order until it is fulfilled", async () => {
        await stack.up({ variant: "seven" });
        await shows("#variant", /seven/);
        expect(await page.isVisible("#no-orders")).toBe(false);
        await placeOne();
        await shows(placed, /Fulfilled after/);
        await keep("order-fulfilled");
    });

    itInAll("shows that an order waits while the broker is isolated, and is fulfilled afterwards", async () => {
        await stack.up({ ...quick, "experiment.enabled": "true", "experiment.name": "message-broker-blackhole" });
        await placeOne();
        await shows(placed, /Accepted and waiting for the inventory, [1-9]/);
        await page.locator(".add").last().click();
        await keep("order-waits");
        for (const colorScheme of ["light", "dark"] as const) {
            await page.emulateMedia({ colorScheme });
            expect(await barriers()).toEqual([]);
        }
        await page.setViewportSize({ width: 390, height: 844 });
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
        await keep("order-phone");
        await page.setViewportSize({ width: 1_200, height: 900 });
        await stack.up({ "experiment.enabled": "false" });
        await shows(placed, /Fulfilled after/);
    });

    it("still shows variant seven without a pod of orders, and says why an order is not accepted", async () => {
        await scale(stack.cluster, stack.namespace, "orders", 0);
        await until("orders is gone", async () => (await fetch(`${page.url()}orders/1`)).status === 502);
        await placeOne();
        await shows("#order-news", /Not accepted yet \(502\): orders .*Place it again/);
        await shows("#variant", /seven/);
        await scale(stack.cluster, stack.namespace, "orders", 1);
        await until("orders is back", async () => (await fetch(`${page.url()}orders/1`)).status === 404);
        await page.click(".place");
        await shows(placed, /Fulfilled after/);
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

    it("shows departments as unknown, not as down, if the gateway does not answer", async () => {
        await page.route("**/{status,products}", (route) => route.abort());
        await shows("#HOT_DEALS .state", /Unknown/);
        await shows("#listing", /does not answer/);
    });
});

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { fakePod, type FakePod, proxyOf, startPods } from "./support/pods";
import { answering, list } from "./support/backends";
import { barriers, describeInChromium, openBrowser } from "./support/browser";
import { startGateway } from "./support/gateway";

/** Hot deals: answers after this time, or closes the connection. */
type Behavior = { afterMs: number } | "closed";

describeInChromium("the shop's page under attack, in Chromium", () => {
    let browser: Browser;
    let page: Page;
    beforeAll(async () => {
        browser = await openBrowser();
    });
    afterAll(() => browser?.close());

    /** The page of a shop. Both functions change what it is like, until the end of the test. */
    async function openShop() {
        let pods: FakePod[] = [];
        let behavior: Behavior = { afterMs: 0 };
        const hotDeals = await answering((_request, response) => {
            if (behavior === "closed") return void response.destroy();
            const answer = () => response.setHeader("Content-Type", "application/json").end(products);
            setTimeout(answer, behavior.afterMs);
        });
        const environment = await startPods(() => pods);
        const { gateway } = await startGateway({ hotDeals }, environment);
        page = await browser.newPage({ viewport: { width: 1_200, height: 900 }, reducedMotion: "reduce" });
        onTestFinished(() => page.close());
        await page.goto(gateway.url);
        await page.evaluate(`
            const announcement = document.getElementById("announcement");
            window.heard = [];
            const observer = new MutationObserver(() => heard.push(announcement.textContent));
            observer.observe(announcement, { childList: true })`);
        await shows("#HOT_DEALS .state", /Up/);
        // What the page did not know before is no news.
        await shows("#attack", /^none$/);
        return {
            attack: (...attacked: FakePod[]) => void (pods = attacked),
            hotDealsIs: (next: Behavior) => void (behavior = next),
        };
    }
    const products = JSON.stringify(list("HOT_DEALS"));

    const shows = (selector: string, words: RegExp | string) =>
        expect.poll(() => page.textContent(selector), { timeout: 15_000 }).toMatch(words);
    const minuteOf = (department: string) => page.locator(`#${department}`).getByRole("img").getAttribute("aria-label");
    const line = (kind: "answered" | "failed") => page.getAttribute(`#HOT_DEALS .minute .${kind}`, "d");
    /** Of each place in the data of a path, in pixels from the top. */
    const heights = (path: string | null) =>
        [...(path ?? "").matchAll(/[ML][\d.]+ ([\d.]+)/g)].map(([, height]) => Number(height));

    /** All that screen readers were told since the page was opened, in lines. */
    const heard = () => page.evaluate<string>('heard.join("\\n")');

    it("says that there is no attack, and how fast each department has answered", async () => {
        await openShop();
        await shows("#attack", /^none$/);
        expect(await page.isVisible("#HOT_DEALS .attack")).toBe(false);
        await expect
            .poll(() => minuteOf("HOT_DEALS"), { timeout: 5_000 })
            .toMatch(/^Hot deals: \d+ ms now, between \d+ and [\d,]+ ms in the last minute$/);
        expect(await line("failed")).toBe("");
        expect(await line("answered")).toMatch(/^M[^M]*L/);
    });

    it("names what is isolated, in the department and for screen readers, and marks each failure", async () => {
        const shop = await openShop();
        shop.hotDealsIs("closed");
        shop.attack(
            fakePod("hot-deals-1", "slow-shop.blackhole", "isolated"),
            fakePod("message-broker-1", "slow-shop.dns-2", "isolated from DNS"),
        );
        await shows("#HOT_DEALS .state", /Down/);
        await shows("#attack", "hot-deals is isolated\nmessage-broker is isolated from DNS");
        await shows("#HOT_DEALS .attack", "Under attack: isolated\nhot-deals-1");
        await expect.poll(heard, { timeout: 15_000 }).toContain("The listing fails. Down: Hot deals.");
        expect(await heard()).toMatch(/Under attack: hot-deals is isolated; message-broker is isolated from DNS\./);
        expect(await page.isVisible("#FASHION .attack")).toBe(false);
        expect(await minuteOf("HOT_DEALS")).toMatch(/^Hot deals: down now, .* in the last minute, \d+ of \d+ requests/);
        expect(await line("failed")).toMatch(/^M/);
    });

    it("names all that several attacks do to one department, also in the table of calls", async () => {
        const shop = await openShop();
        shop.attack(
            fakePod("hot-deals-1", "slow-shop.blackhole", "isolated"),
            fakePod("hot-deals-2", "slow-shop.dns", "isolated from DNS"),
        );
        await shows("#calls-table", "gateway to hot-deals (isolated from DNS, isolated)");
        await shows("#attack", "hot-deals is isolated from DNS\nhot-deals is isolated");
        // The gateway cannot ask the cluster: the attack may last.
        await page.route("**/status", async (route) => {
            const response = await route.fetch();
            await route.fulfill({ response, json: { ...(await response.json()), attacks: null } });
        });
        await shows("#attack", /^unknown$/);
        await shows("#calls-table", "gateway to hot-deals (isolated from DNS, isolated, not known now)");
    });

    it("says that the listing is incomplete, and without whom, if a fallback stands in for a department", async () => {
        const shop = await openShop();
        const { origin } = new URL(page.url());
        // The gateway's listing with a fallback, which an exercise of the workshop makes that of /products.
        await page.route("**/products", (route) => route.continue({ url: `${origin}/products/parallel` }));
        await shows("#listing", /is complete/);
        shop.hotDealsIs("closed");
        await shows("#listing", /is incomplete\s+Missing: Hot deals \(unreachable\)\./);
        expect(await page.getAttribute("#listing", "data-state")).toBe("partial");
        expect(await page.textContent("header .tagline")).not.toContain("fallback");
        await expect
            .poll(heard, { timeout: 15_000 })
            .toBe("The listing is incomplete, without Hot deals. Down: Hot deals.");
        expect(await barriers(page)).toEqual([]);
    });

    it("names how slow a department is, and shows 500 ms well above what is usual", async () => {
        const shop = await openShop();
        // A busy machine has slow answers among the usual ones.
        await expect.poll(() => minuteOf("HOT_DEALS"), { timeout: 15_000 }).toMatch(/between \d{1,2} and/);
        shop.hotDealsIs({ afterMs: 500 });
        const slow = fakePod("hot-deals-1", "slow-shop.fault");
        shop.attack(slow, proxyOf([slow], "slow by 500 ms"));
        await shows("#HOT_DEALS .attack", "Under attack: slow by 500 ms\nhot-deals-1");
        await expect.poll(() => minuteOf("HOT_DEALS"), { timeout: 15_000 }).toMatch(/: [5-9]\d\d ms now/);
        const answers = heights(await line("answered"));
        expect(answers.at(-1)).toBeLessThan(Math.max(...answers) - 8);
        shop.attack();
        await shows("#attack", /^none$/);
        expect(await page.isVisible("#HOT_DEALS .attack")).toBe(false);
    });

    it("breaks the line while the gateway does not answer", async () => {
        await openShop();
        await page.route("**/status", (route) => route.abort());
        await shows("#HOT_DEALS .state", /Unknown/);
        expect(await minuteOf("HOT_DEALS")).toMatch(/^Hot deals: unknown now/);
        await shows("#attack", /^unknown$/);
        await page.unroute("**/status");
        await expect.poll(() => line("answered"), { timeout: 5_000 }).toMatch(/^M.*M/);
        expect(await line("failed")).toBe("");
    });

    it.each(["light", "dark"] as const)(
        "passes axe-core's checks in the %s scheme, on a phone, too",
        async (scheme) => {
            const shop = await openShop();
            await page.emulateMedia({ colorScheme: scheme });
            shop.hotDealsIs("closed");
            shop.attack(
                ...["1", "2", "3", "4"].map((name) =>
                    fakePod(`hot-deals-5447ff4d57-w9r6${name}`, "x.blackhole", "isolated"),
                ),
            );
            await shows("#HOT_DEALS .attack", / and 1 more$/);
            for (const width of [1_200, 390]) {
                await page.setViewportSize({ width, height: 900 });
                expect(await barriers(page)).toEqual([]);
                expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
            }
        },
    );
});

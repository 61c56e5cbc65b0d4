import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { describeInChromium, openBrowser } from "./support/browser";
import { describeWithNats, TestBroker } from "./support/broker";
import { describeOnPostgres, TestDatabase } from "./support/database";
import type { RunningProgram } from "./support/programs";
import { startOrdering, startShop, type RunningShop } from "./support/shop";

vi.setConfig({ testTimeout: 60_000 });

const shirt = "Linden Linen Shirt";
const badger = "Moss the Plush Badger";

describeWithNats("the whole shop", () => {
    describeOnPostgres("with a real database", () => {
        describeInChromium("the shop's page, in Chromium", () => {
            let database: TestDatabase;
            let broker: TestBroker;
            let ordering: Record<"orders" | "inventory", RunningProgram>;
            let shop: RunningShop;
            let browser: Browser;
            let page: Page;
            beforeAll(async () => {
                [database, broker, browser] = await Promise.all([
                    TestDatabase.started(),
                    TestBroker.started(),
                    openBrowser(),
                ]);
                ordering = await startOrdering(database, broker);
                shop = await startShop(database, { ORDERS_URL: ordering.orders.url });
            });
            beforeEach(async () => {
                await page?.close();
                await database.asOwner((sql) => sql`delete from shop_order`);
                page = await browser.newPage();
                await page.goto(shop.gateway.url);
                await addButton(shirt).waitFor();
            });
            afterAll(async () => {
                await browser?.close();
                shop?.kill();
                Object.values(ordering ?? {}).forEach((program) => program.kill());
                await broker?.remove();
                await database?.remove();
            });

            const ordersInDatabase = () =>
                database.asOwner(
                    (sql) =>
                        sql<{ items: { quantity: number }[]; state: string }[]>`select items, state from shop_order`,
                );
            const addButton = (name: string) => page.getByRole("button", { name: `Add ${name} to the order` });
            const quantityOf = (name: string) => page.getByRole("spinbutton", { name: `Quantity of ${name}` });
            const placeButton = () => page.getByRole("button", { name: "Place the order" });
            /** The order arrives, its answer gets lost. */
            const loseNextAnswer = () =>
                page.route(
                    "**/orders",
                    async (route) => {
                        await route.fetch();
                        await route.abort();
                    },
                    { times: 1 },
                );
            const patiently = { timeout: 30_000 };
            const focused = () => page.evaluate<string>("document.activeElement.textContent");
            const shows = (selector: string, words: RegExp) =>
                expect.poll(() => page.textContent(selector), patiently).toMatch(words);

            describe("an order", () => {
                it("can be placed by keyboard alone, and is followed until it is fulfilled", async () => {
                    await addButton(shirt).focus();
                    await page.keyboard.press("Enter");
                    await page.keyboard.press("Enter");
                    await shows("[data-product]:has-text('Linden') .count", /2 in your order/);
                    await quantityOf(shirt).focus();
                    await page.keyboard.press("ArrowUp");
                    await page.keyboard.press("Enter");
                    await shows("#order-news", /Order \w{8} was fulfilled/);
                    await shows("#placed", new RegExp(`Fulfilled after \\d.*3 × ${shirt}`, "s"));
                    expect(await ordersInDatabase()).toMatchObject([{ state: "FULFILLED", items: [{ quantity: 3 }] }]);
                    expect(await quantityOf(shirt).count()).toBe(0);
                    expect(await focused()).toBe("Your order");
                });

                it("that exceeds the stock is rejected, with the name of the product", async () => {
                    await database.asOwner(
                        (sql) => sql`
                                update stock set quantity = 1
                                where product_id = (select id from product where name = ${badger})`,
                    );
                    await addButton(badger).click();
                    await quantityOf(badger).fill("2");
                    await placeButton().click();
                    await shows("#placed", new RegExp(`Rejected.*Out of stock: ${badger}`, "s"));
                });

                it("waits while the broker is down, also after a reload, and is then fulfilled", async () => {
                    await broker.kill();
                    await addButton(shirt).click();
                    await placeButton().click();
                    await shows("#placed", /Accepted and waiting for the inventory, [1-9]/);
                    await page.reload();
                    await shows("#placed", /Accepted and waiting for the inventory/);
                    await broker.start();
                    await shows("#placed", /Fulfilled/);
                });

                it("is refused while the database is down, and can be placed again afterwards", async () => {
                    await addButton(shirt).click();
                    await database.stop();
                    await placeButton().click();
                    await shows("#order-news", /Not accepted yet \(503\): The order database did not answer/);
                    expect(await quantityOf(shirt).inputValue()).toBe("1");
                    await database.start();
                    await expect
                        .poll(
                            async () => {
                                await placeButton().click();
                                return page.textContent("#placed");
                            },
                            { timeout: 30_000, interval: 1_000 },
                        )
                        .toMatch(/Accepted|Fulfilled/);
                    expect(await ordersInDatabase()).toHaveLength(1);
                });

                it("stays one order if its answer got lost and it is placed again", async () => {
                    await addButton(shirt).click();
                    await loseNextAnswer();
                    await placeButton().click();
                    await shows("#order-news", /did not answer.*never placed twice/);
                    await expect.poll(ordersInDatabase, patiently).toMatchObject([{ state: "FULFILLED" }]);
                    await placeButton().click();
                    await shows("#placed", /Fulfilled after \d/);
                    expect(await ordersInDatabase()).toHaveLength(1);
                });

                it("whose answer got lost is sent again unchanged; later additions go into the next", async () => {
                    await addButton(shirt).click();
                    await loseNextAnswer();
                    await placeButton().click();
                    await shows("#order-news", /did not answer/);
                    await page.reload();
                    await shows("#order-news", /has not been answered/);
                    await addButton(badger).click();
                    await placeButton().click();
                    await shows("#placed", new RegExp(`1 × ${shirt}`));
                    expect(await ordersInDatabase()).toMatchObject([{ items: [{ quantity: 1 }] }]);
                    expect([await quantityOf(shirt).count(), await quantityOf(badger).inputValue()]).toEqual([0, "1"]);
                });

                it("keeps its products while it is on its way; additions go into the next", async () => {
                    await addButton(shirt).click();
                    await page.route(
                        "**/orders",
                        async (route) => {
                            await addButton(badger).click();
                            await addButton(shirt).click();
                            await route.continue();
                        },
                        { times: 1 },
                    );
                    await placeButton().click();
                    await shows("#placed", new RegExp(`1 × ${shirt}`));
                    expect(await ordersInDatabase()).toMatchObject([{ items: [{ quantity: 1 }] }]);
                    expect([await quantityOf(shirt).inputValue(), await quantityOf(badger).inputValue()]).toEqual([
                        "1",
                        "1",
                    ]);
                });

                it.each(["", "0", "101", "1.5"])("with the quantity %j is not sent", async (quantity) => {
                    await addButton(shirt).click();
                    await quantityOf(shirt).fill(quantity);
                    await placeButton().click();
                    expect(
                        await quantityOf(shirt).evaluate(
                            (input) => (input as unknown as { validity: { valid: boolean } }).validity.valid,
                        ),
                    ).toBe(false);
                    expect(await page.textContent("#order-news")).toBe("");
                    expect(await ordersInDatabase()).toHaveLength(0);
                });

                it("without products is not sent; removing one keeps the focus in the order", async () => {
                    await addButton(shirt).click();
                    await page.getByRole("button", { name: `Remove ${shirt}` }).click();
                    expect(await focused()).toBe("Your order");
                    await placeButton().click();
                    await shows("#order-news", /add a product first/);
                });

                it("without an answer does not stop the updates of the departments each second", async () => {
                    await page.route("**/orders/*", () => {}); // Neither answered nor refused.
                    await addButton(shirt).click();
                    const asked: string[] = [];
                    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
                    await placeButton().click();
                    await expect
                        .poll(() => asked.filter((path) => path.startsWith("/orders/")), patiently)
                        .toHaveLength(1);
                    asked.length = 0;
                    await expect
                        .poll(() => asked.filter((path) => path === "/status").length, { timeout: 4_500 })
                        .toBeGreaterThanOrEqual(2);
                });
            });

            describe("a department", () => {
                it("that goes down moves the focus from its list to its title", async () => {
                    await addButton(shirt).focus();
                    await database.stop();
                    try {
                        await expect.poll(focused, patiently).toBe("Fashion");
                    } finally {
                        await database.start();
                    }
                });

                it("with an unknown state does not look as if it were up", async () => {
                    const pill = () =>
                        page.evaluate<string>("getComputedStyle(document.querySelector('.state')).backgroundColor");
                    await page.waitForSelector("[data-state=up] .state");
                    const up = await pill();
                    await page.route("**/status", (route) => route.abort());
                    await page.waitForSelector(".department[data-state=unknown]");
                    await expect.poll(pill, patiently).not.toBe(up);
                    expect(await page.textContent(".department .state")).toContain("Unknown");
                });
            });
        });
    });
});

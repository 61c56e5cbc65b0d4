import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { describeOnPostgres, TestDatabase } from "./support/database";
import { local, until } from "../support/until";
import { startCatalogue, startShop, type RunningShop } from "./support/shop";

describeOnPostgres("the whole shop of variant four", () => {
    let database: TestDatabase;
    let shop: RunningShop;
    const products = () => fetch(`${shop.gateway.url}/products`);

    beforeAll(async () => {
        database = await TestDatabase.started();
        shop = await startShop(database);
    });
    afterAll(async () => {
        shop?.kill();
        await database?.remove();
    });

    it("lists every backend's products in the documented shape", async () => {
        const backendResponse = (category: string) =>
            z.strictObject({
                responseType: z.literal("REMOTE_SERVICE"),
                products: z
                    .array(z.strictObject({ id: z.uuid(), name: z.string().min(1), category: z.literal(category) }))
                    .min(8),
            });
        const status = z.literal("REMOTE_SERVICE");
        const listing = z.strictObject({
            fashionResponse: backendResponse("FASHION"),
            toysResponse: backendResponse("TOYS"),
            hotDealsResponse: backendResponse("HOT_DEALS"),
            duration: z.int().min(0),
            statusFashion: status,
            statusToys: status,
            statusHotDeals: status,
        });
        const response = await products();
        expect(response.status).toBe(200);
        expect(response.headers.get("content-type")).toMatch(/^application\/json/);
        listing.parse(await response.json());
    });

    it("needs less than 100 MB of resident memory per program, also after load", async () => {
        const deadline = performance.now() + 1500;
        const client = async () => {
            while (performance.now() < deadline) {
                const response = await products();
                expect(response.status).toBe(200);
                await response.arrayBuffer();
            }
        };
        await Promise.all(Array.from({ length: 16 }, client));
        for (const program of [shop.gateway, ...Object.values(shop.catalogues)]) {
            expect(program.residentMb()).toBeLessThan(100);
        }
    });

    it("has no listing without hot deals, and is complete as soon as they are back", async () => {
        const { catalogues } = shop;
        await catalogues.HOT_DEALS!.stop();
        const broken = await products();
        expect(broken.status).toBe(502);
        expect(await broken.json()).toMatchObject({
            backend: "hot-deals",
            detail: "hot-deals refused the connection.",
        });
        catalogues.HOT_DEALS = await startCatalogue(database, "HOT_DEALS", {
            PORT: new URL(catalogues.HOT_DEALS!.url).port,
        });
        expect((await products()).status).toBe(200);
    });

    it("is complete again after a restart of the database, without restarts of other programs", async () => {
        await database.stop();
        await until("the listing fails", async () => (await products()).status === 502, { ...local, timeoutMs: 500 });
        expect((await fetch(`${shop.gateway.url}/health/readiness`)).status).toBe(200);
        await database.start();
        await until("the listing is complete", async () => (await products()).status === 200, {
            ...local,
            timeoutMs: 2000,
        });
    });
});

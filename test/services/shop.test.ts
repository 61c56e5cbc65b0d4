import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { describeOnPostgres, READER_PASSWORD, TestDatabase } from "./support/database";
import { eventually } from "./support/ports";
import { startProgram, type RunningProgram } from "./support/programs";

describeOnPostgres("the whole shop of variant four", () => {
    let database: TestDatabase;
    let gateway: RunningProgram;
    const catalogues: Record<string, RunningProgram> = {};

    const startCatalogue = (category: string, port?: string) =>
        startProgram("catalogue", {
            CATEGORY: category,
            PGHOST: "127.0.0.1",
            PGPORT: String(database.port),
            PGPASSWORD: READER_PASSWORD,
            ...(port && { PORT: port }),
        });
    const products = () => fetch(`${gateway.url}/products`);

    beforeAll(async () => {
        database = await TestDatabase.started();
        for (const category of ["FASHION", "TOYS", "HOT_DEALS"]) {
            catalogues[category] = await startCatalogue(category);
        }
        gateway = await startProgram("gateway", {
            FASHION_URL: catalogues.FASHION!.url,
            TOYS_URL: catalogues.TOYS!.url,
            HOT_DEALS_URL: catalogues.HOT_DEALS!.url,
        });
    });
    afterAll(async () => {
        gateway?.kill();
        Object.values(catalogues).forEach((catalogue) => catalogue.kill());
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

    it("stays below 100 MB of resident memory a program, after a load too", async () => {
        const deadline = performance.now() + 1500;
        const client = async () => {
            while (performance.now() < deadline) {
                const response = await products();
                expect(response.status).toBe(200);
                await response.arrayBuffer();
            }
        };
        await Promise.all(Array.from({ length: 16 }, client));
        for (const program of [gateway, ...Object.values(catalogues)]) {
            expect(program.residentMb()).toBeLessThan(100);
        }
    });

    it("has no listing without hot deals, says so at once, and is whole again as soon as they are back", async () => {
        await catalogues.HOT_DEALS!.stop();
        const broken = await products();
        expect(broken.status).toBe(502);
        expect(await broken.json()).toMatchObject({ backend: "hot-deals", detail: "hot-deals refused the connection." });
        catalogues.HOT_DEALS = await startCatalogue("HOT_DEALS", new URL(catalogues.HOT_DEALS!.url).port);
        expect((await products()).status).toBe(200);
    });

    it("is whole again after the database was restarted, without a restart of anybody else", async () => {
        await database.stop();
        expect((await products()).status).toBe(502);
        expect((await fetch(`${gateway.url}/health/readiness`)).status).toBe(200);
        await database.start();
        await eventually("the listing is whole", async () => (await products()).status === 200, 2000);
    });
});

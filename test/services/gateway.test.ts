import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { answering, answeringJson, dropping, refusing, silent } from "./support/backends";
import { ask, list, product, startGateway, TIMEOUT_MS } from "./support/gateway";
import { eventually } from "./support/ports";
import { runToExit } from "./support/programs";

describe("the product listing", () => {
    it("has exactly the documented members, and no others", async () => {
        const { gateway } = await startGateway({
            toys: await answeringJson({ ...list("TOYS"), secret: 1, products: [{ ...product("TOYS"), price: 3 }] }),
        });
        const { status, body } = await ask(gateway);
        expect(status).toBe(200);
        expect(body).toStrictEqual({
            fashionResponse: list("FASHION"),
            toysResponse: list("TOYS"),
            hotDealsResponse: list("HOT_DEALS"),
            duration: expect.any(Number),
            statusFashion: "REMOTE_SERVICE",
            statusToys: "REMOTE_SERVICE",
            statusHotDeals: "REMOTE_SERVICE",
        });
        expect(Number.isInteger(body.duration) && body.duration >= 0).toBe(true);
    });

    it("asks the backends at once, not one after another", async () => {
        const slow = (category: string) =>
            answering((_request, response) => {
                setTimeout(() => response.end(JSON.stringify(list(category))), 300);
            });
        const { gateway } = await startGateway({
            fashion: await slow("FASHION"),
            toys: await slow("TOYS"),
            hotDeals: await slow("HOT_DEALS"),
        });
        const { status, body } = await ask(gateway);
        expect(status).toBe(200);
        expect(body.duration).toBeGreaterThanOrEqual(295);
        expect(body.duration).toBeLessThan(TIMEOUT_MS);
    });

    it("opens a fresh connection to each backend for each request, lest a kept one hide an isolation", async () => {
        const { gateway, hotDeals } = await startGateway();
        for (let request = 0; request < 3; request++) {
            expect((await ask(gateway)).status).toBe(200);
        }
        expect(hotDeals.connections()).toBe(3);
    });
});

describe("the gateway's health", () => {
    it("stays ready while a backend can be reached, though others cannot", async () => {
        const { gateway } = await startGateway({ fashion: await refusing(), toys: await silent() });
        expect(await ask(gateway, "/health/readiness")).toMatchObject({ status: 200, body: { status: "UP" } });
    });

    it("is alive but not ready, within a kubelet's patience, when nothing at all can be reached", async () => {
        const { gateway } = await startGateway({
            fashion: await refusing(),
            toys: await dropping(),
            hotDeals: await dropping(),
        });
        const readiness = await ask(gateway, "/health/readiness");
        expect(readiness).toMatchObject({ status: 503, type: "application/problem+json" });
        expect(readiness.durationMs).toBeLessThan(1000);
        expect(await ask(gateway, "/health/liveness")).toMatchObject({ status: 200, body: { status: "UP" } });
    });
});

describe("anything else that is asked of the gateway", () => {
    it("is answered with a problem document", async () => {
        const { gateway } = await startGateway();
        expect(await ask(gateway, "/nowhere")).toMatchObject({
            status: 404,
            type: "application/problem+json",
            body: { status: 404, title: "Not Found" },
        });
        const post = await ask(gateway, "/products", "POST");
        expect(post).toMatchObject({ status: 405, type: "application/problem+json", body: { status: 405 } });
        expect(post.headers.get("allow")).toBe("GET, HEAD");
        expect((await ask(gateway, "/products", "HEAD")).status).toBe(200);
    });
});

describe("a gateway whose port is taken", () => {
    it("exits with 1 and says so", async () => {
        const { gateway, fashion: peer } = await startGateway();
        const { code, output } = await runToExit("gateway", {
            PORT: new URL(gateway.url).port,
            FASHION_URL: peer.url,
            TOYS_URL: peer.url,
            HOT_DEALS_URL: peer.url,
        });
        expect(code).toBe(1);
        expect(output).toMatch(/"level":"fatal".*address already in use/);
    });
});

describe("a gateway that is told to stop", () => {
    it("finishes what is in flight, accepts nothing new, and exits with 0", async () => {
        const held: ServerResponse[] = [];
        const toys = await answering((_request, response) => void held.push(response));
        const { gateway } = await startGateway({ toys });
        const inFlight = ask(gateway);
        await eventually("toys is asked", () => held.length === 1);
        const stopped = gateway.stop();
        await eventually(
            "it refuses connections",
            () =>
                fetch(gateway.url).then(
                    () => false,
                    () => true,
                ),
            1000,
        );
        held[0]!.end(JSON.stringify(list("TOYS")));
        expect((await inFlight).status).toBe(200);
        const { code, durationMs } = await stopped;
        expect(code).toBe(0);
        expect(durationMs).toBeLessThan(1000);
    });

    it("keeps a connection longer than load balancers do, 60 s, so that it closes none on which a request is under way", async () => {
        const { gateway } = await startGateway();
        const [, seconds] = /^timeout=(\d+)$/.exec((await ask(gateway)).headers.get("keep-alive")!)!;
        expect(Number(seconds)).toBeGreaterThan(60);
    });

    it("serves on for as long as it is told, and has clients that keep their connection make another", async () => {
        const { gateway } = await startGateway({}, { SHUTDOWN_DELAY_MS: "1000" });
        expect((await ask(gateway)).headers.get("connection")).toBe("keep-alive");
        const stopped = gateway.stop();
        await eventually("it stops", () => gateway.output().includes("gateway stops"));
        for (let turn = 0; turn < 3; turn++) {
            const { status, headers } = await ask(gateway);
            expect([status, headers.get("connection")]).toEqual([200, "close"]);
        }
        const { code, durationMs } = await stopped;
        expect(code).toBe(0);
        expect(durationMs).toBeGreaterThanOrEqual(1000);
        expect(durationMs).toBeLessThan(2000);
    });

    it("does not wait for clients that keep a connection alive", async () => {
        const { gateway } = await startGateway();
        await ask(gateway);
        const { code, durationMs } = await gateway.stop();
        expect(code).toBe(0);
        expect(durationMs).toBeLessThan(500);
    });
});

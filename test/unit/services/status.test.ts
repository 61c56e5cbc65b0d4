import { describe, expect, it, vi } from "vitest";
import { exists } from "../../../services/gateway/names";
import { product, refusing, silent } from "../../services/support/backends";
import { pass, stopClock, turnUntil } from "./support/clock";
import { startDns, type Reply } from "./support/dns";
import { ask, openGateway, TIMEOUT_MS } from "./support/gateway";

describe("the shop's status", () => {
    it("has each department with its products and its latency", async () => {
        const { gateway } = await openGateway();
        const { status, headers, body } = await ask(gateway, "/status");
        expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
        const up = (category: string, backend: string) => ({
            category,
            backend,
            status: "UP",
            latencyMs: expect.any(Number),
            products: [product(category)],
        });
        expect(body.categories).toEqual([
            up("FASHION", "fashion-bestseller"),
            up("TOYS", "toys-bestseller"),
            up("HOT_DEALS", "hot-deals"),
        ]);
    });

    it("says why a department is down, after one timeout at most", async () => {
        const { gateway } = await openGateway({ toys: await refusing(), hotDeals: await silent() });
        stopClock();
        const answer = ask(gateway, "/status");
        await turnUntil(() => vi.getTimerCount() === 1);
        await pass(TIMEOUT_MS);
        const { status, body } = await answer;
        expect(status).toBe(200);
        expect(body.categories).toMatchObject([
            { status: "UP" },
            { status: "DOWN", reason: "toys-bestseller refused the connection.", products: [] },
            { status: "DOWN", reason: `hot-deals did not answer within ${TIMEOUT_MS} ms.`, products: [] },
        ]);
    });

    it("does not know of attacks, rather than of none, if it cannot ask the cluster", async () => {
        const { gateway } = await openGateway();
        expect((await ask(gateway, "/status")).body.attacks).toBeNull();
    });
});

describe("whether the shop has orders", () => {
    it.each<[Reply, boolean | undefined]>([
        ["loopback", true],
        ["no such name", false],
        ["nothing", undefined],
    ])("if DNS replies with %s: %s, within the time limit", async (reply, expected) => {
        const { dns, queries } = await startDns(reply);
        stopClock();
        const found = exists(new URL("http://orders"), dns, 400);
        await turnUntil(() => queries.length > 0);
        if (reply === "nothing") await pass(400);
        expect(await found).toBe(expected);
        expect(queries[0]!.name).toBe("orders.demo.svc.cluster.local");
    });
});

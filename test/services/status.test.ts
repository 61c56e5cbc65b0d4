import { afterEach, describe, expect, it } from "vitest";
import { isThere } from "../../services/gateway/names";
import { podsLabelled } from "../../services/gateway/podList";
import { makeCertificate, startApiServer } from "./support/apiServer";
import { refusing, silent } from "./support/backends";
import { startDns, type Reply } from "./support/dns";
import { ask, product, startGateway, TIMEOUT_MS } from "./support/gateway";

let running: { close(): void }[] = [];
afterEach(() => {
    running.forEach((each) => each.close());
    running = [];
});

describe("the shop's status", () => {
    it("has each department with its products and how long it took to answer", async () => {
        const { gateway } = await startGateway();
        const { status, headers, body } = await ask(gateway, "/status");
        expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
        expect(body.categories).toEqual([
            {
                category: "FASHION",
                backend: "fashion-bestseller",
                status: "UP",
                latencyMs: expect.any(Number),
                products: [product("FASHION")],
            },
            {
                category: "TOYS",
                backend: "toys-bestseller",
                status: "UP",
                latencyMs: expect.any(Number),
                products: [product("TOYS")],
            },
            {
                category: "HOT_DEALS",
                backend: "hot-deals",
                status: "UP",
                latencyMs: expect.any(Number),
                products: [product("HOT_DEALS")],
            },
        ]);
    });

    it("says of a department that is down why, and costs the others nothing", async () => {
        const { gateway } = await startGateway({ toys: await refusing(), hotDeals: await silent() });
        const { status, body, durationMs } = await ask(gateway, "/status");
        expect(status).toBe(200);
        expect(body.categories).toMatchObject([
            { status: "UP" },
            { status: "DOWN", reason: "toys-bestseller refused the connection.", products: [] },
            { status: "DOWN", reason: `hot-deals did not answer within ${TIMEOUT_MS} ms.`, products: [] },
        ]);
        expect(durationMs).toBeLessThan(TIMEOUT_MS + 400);
    });

    it("leaves open what an experiment isolates where no cluster can be asked", async () => {
        const { gateway } = await startGateway();
        expect((await ask(gateway, "/status")).body.isolated).toBeNull();
    });
});

describe("the variant is known by whether the shop has orders", () => {
    it.each<[Reply, boolean | undefined]>([
        ["loopback", true],
        ["no such name", false],
        ["nothing", undefined],
    ])("DNS replies with %s: %s", async (reply, expected) => {
        const { dns, queries, close } = await startDns(reply);
        running.push({ close });
        const begun = performance.now();
        expect(await isThere(new URL("http://orders"), dns, 400)).toBe(expected);
        expect(queries[0]!.name).toBe("orders.demo.svc.cluster.local");
        expect(performance.now() - begun).toBeLessThan(800);
    });
});

describe("the pods with a label in the gateway's namespace", () => {
    const start = async (...listener: Parameters<typeof startApiServer>) => {
        const server = await startApiServer(...listener);
        running.push(server);
        return server.apiServer;
    };

    it("are asked for as the gateway's account, and told by name", async () => {
        const pods = [
            { metadata: { name: "hot-deals-1", labels: { "shop/target": "x" } } },
            { metadata: { name: "hot-deals-2" } },
        ];
        const apiServer = await start(({ url, headers }, response) => {
            const allowed =
                url === "/api/v1/namespaces/demo/pods?labelSelector=shop%2Ftarget" &&
                headers.authorization === "Bearer a token";
            response.writeHead(allowed ? 200 : 403).end(JSON.stringify({ items: pods }));
        });
        expect(await podsLabelled("shop/target", 1_000, apiServer)).toEqual(["hot-deals-1", "hot-deals-2"]);
    });

    it.each([401, 403, 503])("are not known where the API server answers with %i", async (status) => {
        const apiServer = await start((_request, response) => void response.writeHead(status).end("{}"));
        await expect(podsLabelled("shop/target", 1_000, apiServer)).rejects.toThrow(
            `the API server answered with status ${status}`,
        );
    });

    it("are not known where the answer is no list of pods", async () => {
        const apiServer = await start((_request, response) => void response.end('{"kind":"Status"}'));
        await expect(podsLabelled("shop/target", 1_000, apiServer)).rejects.toThrow("items");
    });

    it("are not known where the API server does not answer, no longer than somebody waits", async () => {
        const apiServer = await start(() => {});
        const begun = performance.now();
        await expect(podsLabelled("shop/target", 300, apiServer)).rejects.toThrow();
        expect(performance.now() - begun).toBeLessThan(600);
    });

    it("are not asked of a server that the account's authority does not vouch for", async () => {
        let asked = false;
        const apiServer = await start((_request, response) => {
            asked = true;
            response.end();
        });
        makeCertificate(apiServer.account);
        await expect(podsLabelled("shop/target", 1_000, apiServer)).rejects.toThrow(/certificate/);
        expect(asked).toBe(false);
    });
});

import { describe, expect, it } from "vitest";
import { ask, startGateway } from "./support/gateway";
import { local, until } from "../support/until";
import { logOf, runToExit } from "./support/programs";

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

describe("a gateway that gets SIGTERM", () => {
    it("keeps serving for SHUTDOWN_DELAY_MS, and has clients that keep a connection open another", async () => {
        const { gateway } = await startGateway({}, { SHUTDOWN_DELAY_MS: "1000" });
        expect((await ask(gateway)).headers.get("connection")).toBe("keep-alive");
        const stopped = gateway.stop();
        await until("it stops", () => gateway.output().includes("gateway stops"), local);
        for (let turn = 0; turn < 3; turn++) {
            const { status, headers } = await ask(gateway);
            expect([status, headers.get("connection")]).toEqual([200, "close"]);
        }
        expect(await stopped).toBe(0);
        const [stops, end] = ["gateway stops", "gateway stopped"].map((message) =>
            Date.parse(logOf(gateway).find(({ msg }) => msg === message)!.time as string),
        );
        expect(end! - stops!).toBeGreaterThanOrEqual(1_000);
    });
});

it("a gateway keeps connections longer than load balancers do (60 s), so that it closes none in use", async () => {
    const { gateway } = await startGateway();
    const [, seconds] = /^timeout=(\d+)$/.exec((await ask(gateway)).headers.get("keep-alive")!)!;
    expect(Number(seconds)).toBeGreaterThan(60);
});

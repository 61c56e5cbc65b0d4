import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Action } from "../../../chaos/index";
import { importK6 } from "../../../sandbox/test/support/k6";
import { LoadedStack, slow } from "../loaded-stack";

const serving = `require("http").createServer((_, answer) => answer.end("{}")).listen(8080);`;

describe("a load by a script of k6", () => {
    const namespace = "e2e-k6";
    let stack: LoadedStack;
    let image: string;
    let base: string;

    const k6 = (script: string, variables: Record<string, string | number> = {}): Action => {
        const given = Object.entries({ BASE: base, ...variables }).flatMap(([name, value]) => [
            "-e",
            `${name}=${value}`,
        ]);
        return { kind: "load", name: "shoppers", k6: { image, args: ["run", ...given, `/scripts/${script}`] } };
    };

    beforeAll(async () => {
        image = await importK6();
        stack = await LoadedStack.open(namespace, serving);
        const { spec } = await stack.cluster.core.readNamespacedService({ namespace, name: "api" });
        base = `http://${spec!.clusterIP}`;
    }, 1_800_000);
    afterAll(() => stack?.close());

    it("is sent at its rate though the Service is slow, which its latencies show, and ends with the run", async () => {
        const { verdict, reason } = await stack.conclusionOf({
            attacks: slow,
            actions: [k6("open.js", { RATE: 50, VUS: 60 })],
        });
        expect([verdict, reason]).toEqual(["PASSED", expect.any(String)]);
        const { due, sent, good, latencyMs } = stack.delivery;
        expect(due).toBeGreaterThan(200);
        expect(sent / due).toBeGreaterThan(0.98);
        expect(good).toBe(sent);
        expect(latencyMs!.p50).toBeGreaterThan(290);
        await stack.untilNoLoad();
    });

    it("is INCONCLUSIVE if it drops iterations under attack, since it has too few VUs", async () => {
        const few = k6("open.js", { RATE: 50, VUS: 5 });
        const { verdict, code, reason } = await stack.conclusionOf({ attacks: slow, actions: [few] });
        expect([verdict, code]).toEqual(["INCONCLUSIVE", "load-not-delivered"]);
        expect(reason).toMatch(/all its connections or VUs waited for answers.*`maxVUs` of k6/);
        await stack.untilNoLoad();
    });

    it("is INCONCLUSIVE if the script ends before the checks", async () => {
        const short = k6("open.js", { RATE: 50, VUS: 20, DURATION: "30s" });
        const window = { duration: "60s" } as const;
        const { verdict, code, reason } = await stack.conclusionOf({ actions: [short], window });
        expect([verdict, code]).toEqual(["INCONCLUSIVE", "load-not-delivered"]);
        expect(reason).toMatch(/of \d+ nothing was reported; its pod \S+ has ended \(Completed\)/);
        await stack.untilNoLoad();
    });

    it.each([
        [
            "whose executor is a closed loop",
            "closed.js",
            /ABORTED \(action-refused\): scenario .users. of k6 is a closed/,
        ],
        ["that the image does not have", "none.js", /ABORTED \(load-not-delivered\): its pod \S+ has ended/],
    ])("attacks nobody by a script %s", async (_, script, words) => {
        const failing = await stack.failureOf({ attacks: slow, actions: [k6(script)] });
        expect(failing).toMatch(words);
        await stack.untilNoLoad();
    });
});

import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { split } from "shlex";
import { podsOf } from "../../../cli/shop";
import { runningExperiments } from "../../../chaos/lease/running";
import type { Advice } from "../../../chaos/report/conclusion";
import { kubectl } from "../../../sandbox/test/e2e/support";
import { itOnce } from "../which-tests";
import { experimentParts, quick, shownIn, TestStack } from "./support";

let stack: TestStack;
let advice: Advice | undefined;
beforeAll(async () => {
    // As a user's `pulumi up` once; on other networks without a process for the program, which is quicker.
    stack = await TestStack.open("e2e-story", { inline: inject("onlyNetwork") });
});
afterAll(() => stack.close());

/** Long enough for an isolated replica to leave its Service. */
const short = { ...quick, "experiment.grace": "6s", "experiment.duration": "4s" };

describe("the story, from nothing to two verdicts and back to nothing", () => {
    itOnce("a preview of the new shop shows no program's text: no line is longer than two of a terminal", async () => {
        let printed = "";
        stack.onOutput = (text) => (printed += text);
        await stack.preview();
        stack.onOutput = undefined;
        expect(printed).toContain("storefront-program-");
        expect(Math.max(...printed.split("\n").map((line) => line.length))).toBeLessThan(500);
        expect(printed.length).toBeLessThan(100_000);
    });

    it("an update installs the shop: all pods are ready, and the gateway's address is in the outputs", async () => {
        const { outputs } = await stack.up();
        const pods = await podsOf(stack.cluster, stack.namespace);
        expect(pods.map(({ name }) => name.replace(/-[a-z0-9]+-[a-z0-9]{5}$/, "")).sort()).toEqual([
            "database",
            "fashion-bestseller",
            "gateway",
            "hot-deals",
            "toys-bestseller",
        ]);
        for (const pod of pods) expect(pod).toMatchObject({ status: "Running", ready: true });
        expect(outputs).toMatchObject({
            variant: { value: "four" },
            namespace: { value: "e2e-story" },
            experiment: { value: "disabled" },
        });
        expect(outputs.productsUrl!.value).toMatch(/^http:\/\/[\d.]+\/products$/);
    });

    it("/products has exactly the document's shape", async () => {
        const outputs = await stack.outputs();
        const response = await fetch(outputs.productsUrl!.value as string);
        const listing = (await response.json()) as Record<string, any>;
        expect(response.status).toBe(200);
        expect(Object.keys(listing).sort()).toEqual([
            "duration",
            "fashionResponse",
            "hotDealsResponse",
            "statusFashion",
            "statusHotDeals",
            "statusToys",
            "toysResponse",
        ]);
        expect(listing).toMatchObject({
            statusFashion: "REMOTE_SERVICE",
            statusToys: "REMOTE_SERVICE",
            statusHotDeals: "REMOTE_SERVICE",
            duration: expect.any(Number),
        });
        expect(Number.isInteger(listing.duration)).toBe(true);
        for (const list of ["fashionResponse", "toysResponse", "hotDealsResponse"]) {
            expect(Object.keys(listing[list]).sort()).toEqual(["products", "responseType"]);
            expect(listing[list].products.length).toBeGreaterThan(0);
            for (const product of listing[list].products) {
                expect(product).toEqual({
                    id: expect.stringMatching(
                        /^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
                    ),
                    name: expect.any(String),
                    category: expect.any(String),
                });
            }
        }
    });

    itOnce("an update with refresh changes nothing", async () => expect((await stack.refresh()).changes).toEqual([]));

    itOnce("the state has no readable password of the database", async () => {
        const passwords = await stack.databasePasswords();
        expect(passwords).toHaveLength(4);
        expect(shownIn((await stack.state()) + stack.said, passwords)).toEqual([]);
    });

    itOnce("a preview of the experiment shows exactly its parts", async () => {
        const changes = await stack.preview({ ...short, "experiment.enabled": "true" });
        const shown = changes.map(
            ({ op, type, name }) => `${op} ${type.split(":").at(-1)} ${name.replace(/-[0-9a-f]{8}$/, "")}`,
        );
        expect(shown.sort()).toEqual(experimentParts);
        expect(stack.said).toMatch(
            /would hit 1 container of 1 that match k8s\.deployment=hot-deals.*hot-deals-\S+\/hot-deals/,
        );
    });

    it("the verdict is FAILED with hot-deals isolated", async () => {
        const conclusion = await stack.run({ ...short, "experiment.enabled": "true" });
        expect(conclusion).toMatchObject({
            name: "hot-deals-blackhole",
            run: "1",
            attack: "blackhole",
            verdict: "FAILED",
            successRate: "0%",
            requests: 40,
        });
        expect(conclusion.targets).toEqual([expect.stringMatching(/^e2e-story\/hot-deals-[^/]+\/hot-deals$/)]);
        expect(conclusion.reason).toMatch(/hot-deals/);
        expect(existsSync(conclusion.journal)).toBe(true);
        expect((await stack.products()).good).toBe(false);
        advice = conclusion.advice?.[0];
        expect(advice!.seen).toMatch(/^Deployment hot-deals had 1 replica, hot-deals-/);
        expect(stack.said).toContain(`What may help: ${advice!.change}: ${advice!.command}`);
    });

    itOnce("while it runs, the status says what is attacked, and by whom", async () => {
        const { running, everywhere } = await runningExperiments(stack.cluster, stack.namespace);
        expect(everywhere).toBe(true);
        expect(running.filter(({ namespace }) => namespace === stack.namespace)).toEqual([
            {
                namespace: stack.namespace,
                experiment: "hot-deals-blackhole",
                lease: {
                    holder: expect.stringContaining("e2e-story"),
                    endsAt: expect.any(Number),
                    endsInMs: expect.any(Number),
                },
                targets: [{ pod: expect.stringMatching(/^hot-deals-/), attack: "blackhole" }],
            },
        ]);
    });

    itOnce("another update does not run it again if nothing has changed", async () =>
        expect((await stack.up()).changes).toEqual([]),
    );

    itOnce("each of its objects can be made again, should an update be killed before it noted them", async () =>
        expect(await stack.conflictsIfRepeated()).toEqual([]),
    );

    it("disabling it removes its parts, the attack first, and /products is complete", async () => {
        const { changes, outputs } = await stack.up({ "experiment.enabled": "false" });
        expect(changes).toHaveLength(experimentParts.length);
        expect(new Set(changes.map(({ op }) => op))).toEqual(new Set(["delete"]));
        const order = changes.map(({ name }) => name.replace(/^experiment-/, ""));
        // The deadline's Job, and what it may do, outlive the attack.
        for (const part of ["deadline", "deadline-role", "deadline-binding", "deadline-account", "deadline-program"]) {
            const steps = ["check", "blackhole", "targets", part, "steady-state"];
            expect(steps.map((step) => order.indexOf(step))).toEqual(
                steps.map((step) => order.indexOf(step)).sort((a, b) => a - b),
            );
            expect(order).toContain(part);
        }
        expect(await stack.traces()).toEqual([]);
        expect((await stack.products()).good).toBe(true);
        expect(outputs.experiment!.value).toBe("disabled");
    });

    it("an update keeps the number of pods that the command of the advice has set", async () => {
        const [program, ...args] = split(advice!.command);
        expect(program).toBe("kubectl");
        await kubectl(args);
        expect((await stack.up()).changes).toEqual([]);
    });

    it("the verdict is PASSED with one of these replicas isolated", async () => {
        expect(await stack.run({ "experiment.enabled": "true" })).toMatchObject({
            verdict: "PASSED",
            successRate: "100%",
        });
    });

    itOnce("another run first undoes the old attack, and waits for recovery, before the new steady state", async () => {
        const { changes, outputs } = await stack.up({ "experiment.run": "2" });
        const done = changes.map(({ op, name }) => `${op} ${name.replace(/^experiment-/, "")}`);
        const order = [
            "delete-replaced check",
            "delete-replaced blackhole",
            "delete-replaced targets",
            "delete-replaced steady-state",
            "create-replacement steady-state",
            "create-replacement blackhole",
            "create-replacement check",
        ];
        expect(order.map((step) => done.indexOf(step))).toEqual(
            order.map((step) => done.indexOf(step)).sort((a, b) => a - b),
        );
        expect(order.map((step) => done.indexOf(step))).not.toContain(-1);
        expect(outputs.experiment!.value).toMatchObject({ run: "2", verdict: "PASSED" });
    });

    it("destroying the stack during an experiment leaves nothing in the cluster", async () => {
        await stack.destroy();
        expect(await stack.exists()).toBe(false);
        const policies = await stack.cluster.networking.listNetworkPolicyForAllNamespaces({
            labelSelector: "chaos-experiments/experiment",
        });
        expect(policies.items.filter(({ metadata }) => metadata!.namespace === stack.namespace)).toEqual([]);
    });
});

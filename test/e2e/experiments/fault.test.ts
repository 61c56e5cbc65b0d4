import { PatchStrategy, setHeaderOptions, type V1Service } from "@kubernetes/client-node";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Conclusion } from "../../../chaos/report/conclusion";
import { leaseName } from "../../../chaos/lifecycle/lease";
import { TestStack } from "../shop/support";
import { until } from "../../support/until";

/** The shop has default-deny policies: the proxy works among these. */
const namespace = "e2e-fault";
const service = "hot-deals";

let stack: TestStack;
let before: V1Service;
beforeAll(async () => {
    stack = await TestStack.open(namespace);
    await stack.up();
    before = await current();
});
afterAll(() => stack.close());

const current = () => stack.cluster.core.readNamespacedService({ name: service, namespace });

const short = {
    "experiment.enabled": "true",
    "experiment.duration": "3s",
    "experiment.grace": "1s",
    "experiment.interval": "250ms",
};

async function conclusionOf(settings: Record<string, string>): Promise<Conclusion> {
    return (await stack.up({ ...short, ...settings })).outputs.experiment!.value as Conclusion;
}

const isRestored = async () => {
    const { spec, metadata } = await current();
    expect(spec!.selector).toEqual(before.spec!.selector);
    expect(metadata!.annotations).toEqual(before.metadata!.annotations);
    expect(metadata!.managedFields).toEqual(before.metadata!.managedFields);
};

describe("a slow hot-deals", () => {
    it("is proven by the witness and by the answers of the shop", async () => {
        const conclusion = await conclusionOf({ "experiment.name": "hot-deals-slow" });
        expect(stack.said).toMatch(/Proven: hot-deals-\S+ is delayed by 3 s through Service hot-deals/);
        expect(stack.said).toMatch(/Through Service hot-deals: (\d+) of \1 requests hit/);
        expect(conclusion).toMatchObject({ attack: "fault", targets: [expect.stringContaining("hot-deals-")] });
        expect(conclusion.verdict).not.toBe("INCONCLUSIVE");
    });

    it("is over after the next update, and the Service is as before, with its owners", async () => {
        await stack.up({ "experiment.enabled": "false" });
        expect(await stack.traces()).toEqual([]);
        await isRestored();
    });
});

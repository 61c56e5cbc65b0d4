import { afterAll, beforeAll, expect, it } from "vitest";
import { tryWithin } from "../../../chaos/proof/try-within";
import { select } from "../../../chaos/targets/containers";
import { containersByApiServer } from "../../../chaos/targets/discover";
import { giveBack, sharedNamespace as namespace, sharedStack } from "./shared";
import type { TestStack } from "./support";

let stack: TestStack;
beforeAll(async () => {
    stack = await sharedStack();
});
afterAll(() => giveBack(stack));

it.each([
    ["gateway", "hot-deals", true],
    ["gateway", "database", false],
    ["hot-deals", "database", true],
    ["hot-deals", "toys-bestseller", false],
    ["database", "gateway", false],
])("the shop's policies decide whether %s connects to %s: %s", async (caller, callee, allowed) => {
    const known = await containersByApiServer(stack.cluster, "sandbox");
    const containerOf = (deployment: string) =>
        select(known, `k8s.deployment=${deployment},k8s.namespace=${namespace}`)[0]!;
    const [from, to] = [containerOf(caller), containerOf(callee)];
    const connect = { host: to.address, port: to.ports[0]! };
    expect(await tryWithin(stack.cluster, from, { connect }, 1_000)).toMatchObject({ worked: allowed });
});

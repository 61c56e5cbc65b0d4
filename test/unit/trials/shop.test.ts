import { expect, it } from "vitest";
import { annotations, labels } from "../../../chaos/cluster/labels";
import type { Resource } from "../../../chaos/cluster/resources";
import { unrunnable } from "../../../chaos/kinds/attacks/fail/image";
import { Shop } from "../../../test/trials/shop";
import type { TestStack } from "../../e2e/shop/support";

const pod = (name: string, image: string) => ({ metadata: { name }, spec: { containers: [{ name: "main", image }] } });

/** A shop of whose namespace the API server lists some objects. */
function shopWith(all: (resource: Resource) => Promise<object[]>): Shop {
    const none = () => Promise.resolve([]);
    const stack = { namespace: "demo", cluster: { all }, attackPolicies: none, targets: none };
    return new Shop(stack as unknown as TestStack);
}

it("whatever an attack or an action has borrowed or begun counts as left of it, and nothing else", async () => {
    const objects: Record<string, object[]> = {
        pods: [
            pod("toys", "shop:1"),
            pod("stopped", unrunnable("run", "shop:1")),
            { metadata: { name: "run-load", labels: { [labels.beside]: "load" } } },
        ],
        services: [
            { metadata: { name: "toys" } },
            { metadata: { name: "pointed", annotations: { [annotations.pointing]: "{}" } } },
        ],
        deployments: [
            { metadata: { name: "toys" } },
            { metadata: { name: "scaled", labels: { [`${labels.set}replicas`]: "1-2-uid" } } },
        ],
    };
    const shop = shopWith(({ resource }) => Promise.resolve(objects[resource]!));
    expect((await shop.attackLeft(0)).sort()).toEqual(["pointed", "run-load", "scaled", "stopped"]);
});

it("what cannot be looked at is not taken for gone", async () => {
    const shop = shopWith(() => Promise.reject(new Error("no answer")));
    expect(await shop.attackLeft(0)).toEqual(["what is left is not known: no answer"]);
});

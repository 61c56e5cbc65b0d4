import { expect, it } from "vitest";
import { edgesAmong } from "../../../../chaos/report/edges";
import { shopCalls } from "../../../../components/shop/calls";

const four = ["database", "fashion-bestseller", "gateway", "hot-deals", "toys-bestseller"];
const seven = [...four, "inventory", "message-broker", "orders"];

it.each([
    { workloads: four, edges: 7, withoutCaller: ["demo/gateway"] },
    { workloads: seven, edges: 13, withoutCaller: ["demo/gateway", "demo/inventory"] },
])("a report knows the callers of $workloads", ({ workloads, edges, withoutCaller }) => {
    const named = workloads.map((name) => `k8s.deployment=${name},k8s.namespace=demo`);
    const found = edgesAmong(named, "demo", shopCalls);
    expect(found).toHaveLength(edges);
    expect(found.flatMap(({ caller, callee }) => (caller === undefined ? callee : []))).toEqual(withoutCaller);
});

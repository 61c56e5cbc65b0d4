import { describe, expect, it } from "vitest";
import { networkNames } from "../../../sandbox/node/choices";
import { cellFor, factsIn, networkFacts } from "../../../sandbox/test/support/network-page";

describe("docs/networks.md", () => {
    it("has a word for each fact and network", () => {
        const facts = networkFacts();
        expect(facts.size).toBeGreaterThan(20);
        for (const [fact, cells] of facts)
            for (const name of networkNames) expect(cells[name], `${fact}, ${name}`).toMatch(/\S/);
    });

    it("is read by row and network, and for denied traffic in its two cases", () => {
        const facts = factsIn(
            ["# A page", "", "| fact | kube-router 2 | Calico | Cilium |", "| --- | --- | --- | --- |"].join("\n") +
                "\n| denied | time-out; with reject: refused | time-out | gone |\n\nThe end. | not | a | row |",
        );
        expect([...facts.keys()]).toEqual(["denied"]);
        expect(cellFor(facts, "denied", { network: "kube-router", denied: "drop" })).toBe("time-out");
        expect(cellFor(facts, "denied", { network: "kube-router", denied: "reject" })).toBe("refused");
        expect(cellFor(facts, "denied", { network: "cilium", denied: "drop" })).toBe("gone");
    });
});

import { describe, expect, it } from "vitest";
import { kinds } from "../../../test/trials/kinds";
import { describePlace, lackOf, type Place } from "../../../test/trials/place";

const usual: Place = { network: "kube-router", nodes: 1 };
const leftOutOn = (place: Place) => kinds.filter(({ needs }) => lackOf(needs, place) !== "").map(({ name }) => name);
const onTwoNodes = ["node-killed", "node-killed-deadline", "node-drained", "default-deny-other-node"];

describe("where a kind can be tried", () => {
    it("is everywhere, unless it says what it needs", () => expect(lackOf(undefined, usual)).toBe(""));

    it("is said in words where it cannot", () => {
        expect(lackOf({ network: "kube-router" }, { network: "cilium", nodes: 1 })).toBe("kube-router");
        expect(lackOf({ network: "cilium", nodes: 2 }, usual)).toBe("cilium and 2 nodes");
    });

    it("leaves out those that need two nodes on one, and those that stop kube-router elsewhere", () => {
        expect(leftOutOn(usual)).toEqual(onTwoNodes);
        expect(leftOutOn({ network: "calico", nodes: 1 })).toEqual(["enforcer-off", ...onTwoNodes]);
        expect(leftOutOn({ network: "calico", nodes: 2 })).toEqual(["enforcer-off"]);
        expect(leftOutOn({ network: "kube-router", nodes: 2 })).toEqual([]);
    });
});

it("a place is named by its network, and the number of nodes if there are two", () => {
    expect(describePlace(usual)).toBe("kube-router");
    expect(describePlace({ network: "cilium", nodes: 2 })).toBe("cilium, 2 nodes");
});

import { describe, expect, it } from "vitest";
import { changedChoices, type Choices, needsNewPods } from "../../node/choices";

const before: Choices = { network: "kube-router", nodes: 1, ipFamilies: "ipv4", denied: "drop" };

describe("a change of what the sandbox is started with", () => {
    it("keeps what is not named", () => {
        const rejecting = { ...before, denied: "reject" } as const;
        expect(changedChoices({}, rejecting)).toEqual(rejecting);
        expect(changedChoices({ nodes: 2, network: undefined }, rejecting)).toEqual({ ...rejecting, nodes: 2 });
    });

    it.each(["calico", "cilium"] as const)("to %s returns what that cannot do to its default", (network) => {
        const chosen = changedChoices({ network }, { ...before, ipFamilies: "ipv4,ipv6", denied: "reject" });
        expect(chosen).toEqual({ network, nodes: 1, ipFamilies: "ipv4", denied: "drop" });
    });

    it.each([
        [{ denied: "reject" }, '--denied is "reject", but calico can only drop denied traffic'],
        [{ ipFamilies: "ipv4,ipv6" }, '--ip-families is "ipv4,ipv6", but the sandbox has only ipv4 with calico'],
    ] as const)("to %o is refused on Calico, with the command that does it", (wanted, reason) => {
        const change = () => changedChoices(wanted, { ...before, network: "calico" });
        expect(change).toThrow(reason);
        expect(change).toThrow("npm run sandbox -- up --network kube-router");
    });

    it.each([
        [{ denied: "reject" }, false],
        [{ network: "calico" }, true],
        [{ nodes: 2 }, true],
        [{ ipFamilies: "ipv4,ipv6" }, true],
    ] as const)("to %o recreates all pods: %s", (wanted, recreated) => {
        expect(needsNewPods(before, { ...before, ...wanted })).toBe(recreated);
    });
});

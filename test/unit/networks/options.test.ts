import { describe, expect, it } from "vitest";
import { allSettings, nameOf, readOptions, stepsOf } from "../../networks/options";

const namesOf = (...args: string[]) => readOptions(args).settings.map(nameOf);

describe("the arguments of the tests of networks", () => {
    it("are optional: each network is tested, on one and on two nodes", () => {
        expect(readOptions([])).toEqual({ settings: allSettings, changes: true, again: false, files: [] });
        expect(namesOf()).toEqual([
            "kube-router, drop, 1 node",
            "kube-router, reject, 1 node",
            "kube-router, drop, 2 nodes",
            "kube-router, reject, 2 nodes",
            "kube-router, drop, 1 node, ipv4,ipv6",
            "calico, 1 node",
            "calico, 2 nodes",
            "cilium, 1 node",
            "cilium, 2 nodes",
        ]);
    });

    it("add the changes between networks at the end, unless something is chosen", () => {
        const last = (...args: string[]) => stepsOf(readOptions(args)).at(-1)!.name;
        expect(last()).toBe("changes");
        expect(last("--again")).toBe("changes");
        for (const args of [["--network=cilium"], ["--nodes=2"], ["network-facts"]])
            expect(last(...args)).toMatch(/2 nodes$/);
    });

    it("choose files on each network; else IPv6 is tested with what it makes a difference to", () => {
        const filesOf = (...args: string[]) => stepsOf(readOptions(args)).map(({ files }) => files.join(" "));
        expect(new Set(filesOf("ways"))).toEqual(new Set(["ways"]));
        const ofFamilies = "ip-families network-facts e2e/services experiments/ways";
        expect(filesOf().filter((files) => files !== "")).toEqual([ofFamilies]);
    });

    it("are told with all their mistakes at once", () =>
        expect(() => readOptions(["--network=flannel", "--nodes=3"])).toThrow(
            new Error('--network is "flannel"; allowed: kube-router, calico, cilium\n--nodes is "3"; allowed: 1, 2'),
        ));
});

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { networkNames } from "../../../sandbox/node/choices";
import { calico, cilium } from "../../../sandbox/parts/programs";
import { networkTable } from "../../../sandbox/test/support/network-page";

const project = resolve(__dirname, "..", "..", "..");

/** What a test of networks can see. */
const words = [
    ...["allowed", "always allowed", "refused", "time-out", "time-out; with reject: refused"],
    ...["survives", "cut", "matches", "does not match", "no effect", "works", "pass", "fail"],
    ...["from its first packet", "after a while", "none", "crd.projectcalico.org", "cilium.io"],
];
const isWord = (cell: string) => words.includes(cell) || /^within \d+ (ms|s)$/.test(cell);

describe("docs/networks.md", () => {
    it("has a word for each fact and network", () => {
        const { facts } = networkTable();
        expect(facts.size).toBeGreaterThan(20);
        const others = [...facts].flatMap(([fact, cells]) =>
            networkNames.filter((name) => !isWord(cells[name])).map((name) => `${fact}, ${name}: ${cells[name]}`),
        );
        expect(others).toEqual([]);
    });

    it("names the versions that the sandbox has", () => {
        const modules = readFileSync(join(project, "sandbox", "modules", "kubernetes", "go.mod"), "utf8");
        const [, kubeRouter] = /=> github\.com\/k3s-io\/kube-router\/v2 v(\S+)/.exec(modules)!;
        expect(networkTable().heads).toEqual({
            "kube-router": `kube-router ${kubeRouter}`,
            calico: `Calico ${calico.version}`,
            cilium: `Cilium ${cilium.version}`,
        });
    });
});

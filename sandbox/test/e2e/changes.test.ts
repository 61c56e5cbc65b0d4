import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { choices, type NetworkName, networkNames } from "../../node/choices";
import { sandboxDown } from "../../node/down";
import { firstNode, networkNamespaceFileOf } from "../../node/nodes";
import { holderPid } from "../../node/processes";
import { sandboxUp } from "../../node/up";
import { commandLines } from "./processes";
import { eventually, kubectl } from "./support";

/** By what a network is recognised in rules, interfaces, mounts, kinds of objects and command lines. */
const marks: Readonly<Record<NetworkName, RegExp>> = {
    "kube-router": /KUBE-ROUTER|KUBE-POD-FW|kube-router/,
    calico: /cali/i,
    cilium: /cilium/i,
};

const before = choices();

/** The machine's settings that Cilium's agent would change. */
const settings = () =>
    ["unprivileged_bpf_disabled", "timer_migration"].map((name) => readFileSync(`/proc/sys/kernel/${name}`, "utf8"));
const settingsBefore = settings();

/** Go programs with gops, as Cilium's agent, leave files there. */
const inHome = () => {
    const folder = join(homedir(), ".config");
    return existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String).sort() : [];
};
const inHomeBefore = inHome();

/** All that a network could leave in the node, in the cluster or on this machine: a line each. */
async function everything(): Promise<string[]> {
    const inside = (...command: string[]) =>
        execFileSync("nsenter", [`--net=${networkNamespaceFileOf(firstNode)}`, ...command], { encoding: "utf8" });
    const texts = [
        inside("iptables-save"),
        inside("ip6tables-save"),
        inside("ipset", "list", "-name"),
        inside("ip", "-oneline", "link"),
        readFileSync(`/proc/${holderPid()}/mountinfo`, "utf8"),
        await kubectl(["get", "crd", "--output", "name"]),
        commandLines()
            .filter((line) => line.includes("/parts/") && !line.includes("vitest"))
            .join("\n"),
    ];
    return texts.flatMap((text) => text.split("\n"));
}

const networksIn = (lines: readonly string[]) =>
    networkNames.filter((name) => lines.some((line) => marks[name].test(line)));

beforeAll(async () => {
    await sandboxUp({ network: "kube-router", nodes: 1, ipFamilies: "ipv4", denied: "drop" });
}, 300_000);
afterAll(async () => {
    await sandboxUp(before);
}, 300_000);

describe("a change of network", { timeout: 300_000 }, () => {
    it.each(["calico", "cilium", "kube-router"] as const)(
        "leaves no rule, interface, mount, process or kind of the former: to %s",
        async (network) => {
            await sandboxUp({ network });
            // Kinds are deleted with all their objects, which takes a moment.
            await eventually(
                async () => networksIn(await everything()),
                (found) => found.join() === network,
                90,
            );
            expect(settings()).toEqual(settingsBefore);
        },
    );

    it("takes at most 60 s, in both directions", async () => {
        for (const network of ["calico", "kube-router"] as const) {
            const begun = Date.now();
            await sandboxUp({ network });
            expect(Date.now() - begun).toBeLessThan(60_000);
        }
    });
});

describe("down", { timeout: 300_000 }, () => {
    it.each(networkNames)("leaves nothing on this machine of %s on two nodes", async (network) => {
        await sandboxUp({ network, nodes: 2 });
        await sandboxDown();
        const print = (command: string, ...args: string[]) => execFileSync(command, args, { encoding: "utf8" });
        const lines = [print("ip", "-oneline", "link"), print("ip", "netns"), print("ip", "route")];
        lines.push(print("iptables-save"), readFileSync("/proc/mounts", "utf8"), ...commandLines());
        const left = lines.flatMap((text) => text.split("\n")).filter((line) => !line.includes("vitest"));
        expect(left.filter((line) => /chaos-shop\/(node|parts)|chaos-shop0|198\.18\./.test(line))).toEqual([]);
        expect(networksIn(left)).toEqual([]);
        expect(inHome()).toEqual(inHomeBefore);
        expect(settings()).toEqual(settingsBefore);
    });
});

describe("--nodes", { timeout: 300_000 }, () => {
    it("1 after 2 forgets the second node and its pods", async () => {
        await sandboxUp({ network: "kube-router", nodes: 2 });
        expect((await kubectl(["get", "nodes", "--output", "name"])).split("\n")).toHaveLength(2);
        await sandboxUp({ nodes: 1 });
        expect(await kubectl(["get", "nodes", "--output", "name"])).toBe(`node/${firstNode.name}`);
        const elsewhere = ["get", "pods", "--all-namespaces", "--field-selector", `spec.nodeName!=${firstNode.name}`];
        expect(await kubectl([...elsewhere, "--output", "name"])).toBe("");
    });
});

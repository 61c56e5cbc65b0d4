import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { proxyFor } from "../../../chaos/cluster/proxy";
import { apiServerUrl, noProxy } from "../../node/addresses";
import { objectPath } from "../../node/api";
import { withGroupsBelow } from "../../node/cgroups";
import { exportCommands } from "../../node/env";
import { tellingLines } from "../../node/processes";
import { type SandboxStatus, statusTable } from "../../node/status";

describe("the API path of an object", () => {
    it.each([
        ["v1", "Service", "kube-system", "/api/v1/namespaces/kube-system/services/x"],
        ["v1", "PersistentVolume", undefined, "/api/v1/persistentvolumes/x"],
        ["apps/v1", "Deployment", "kube-system", "/apis/apps/v1/namespaces/kube-system/deployments/x"],
        ["storage.k8s.io/v1", "StorageClass", undefined, "/apis/storage.k8s.io/v1/storageclasses/x"],
    ])("of %s %s", (apiVersion, kind, namespace, path) => {
        expect(objectPath({ apiVersion, kind, metadata: { name: "x", namespace } })).toBe(path);
    });
});

describe("what an error shows of a component's log", () => {
    const stacks = Array.from({ length: 100 }, (_, at) => `\t/go/src/main.go:${at} +0x1`);

    it("is its end", () => {
        expect(tellingLines(`${stacks.join("\n")}\n`)).toEqual(stacks.slice(-12));
    });

    it.each([
        "panic: no node",
        "fatal error: concurrent map writes",
        "SIGSEGV: segmentation violation",
        "F1201 02:26 x",
    ])("begins with the reason of a crash, and not with its stacks: %s", (why) => {
        expect(tellingLines(["I1201 02:26 ready", why, "", ...stacks].join("\n")).slice(0, 2)).toEqual([why, ""]);
    });
});

describe("the shell commands of `env`", () => {
    it("quote special characters, and put the sandbox's folders first in the shell's PATH", () => {
        const variables = { AWKWARD: `it's "$HOME" \`id\` \\ \n end` };
        const commands = exportCommands({ variables, path: ["/a b", "/c"] });
        const shown = execFileSync(
            "/bin/sh",
            ["-c", `PATH=/usr/bin; eval "$1"; printf '%s|%s' "$AWKWARD" "$PATH"`, "sh", commands],
            {
                encoding: "utf8",
            },
        );
        expect(shown).toBe(`${variables.AWKWARD}|/a b:/c:/usr/bin`);
    });
});

describe("the printed status", () => {
    const down: SandboxStatus = {
        state: "down",
        context: "chaos-shop-sandbox",
        kubeconfig: "/k",
        apiServer: "https://198.18.0.2:6443",
        loadBalancerPool: "198.18.1.0/24",
        components: [{ name: "etcd", state: "stopped", pid: undefined, since: undefined, log: "/etcd.log" }],
        problems: [],
        choices: { network: "kube-router", nodes: 1, ipFamilies: "ipv4", denied: "drop" },
        nodeReady: false,
        dnsAnswers: false,
        podsNotReady: [],
        images: [],
        parts: [],
    };
    it("of a sandbox that is down says how to start it, without a table", () => {
        expect(statusTable(down)).toBe("The sandbox is down.\n\n`npm run sandbox -- up` starts it.\n");
    });

    it("of a broken sandbox lists the problems and the command that repairs it", () => {
        const table = statusTable({ ...down, state: "broken", problems: ["etcd is stopped; its log: /etcd.log"] });
        expect(table).toContain("  - etcd is stopped; its log: /etcd.log");
        expect(table).toContain("`npm run sandbox -- up` repairs it.");
    });
});

describe("the proxy of a company", () => {
    it("is not asked for the sandbox, and what it is not asked for otherwise stays", () => {
        expect(noProxy({})).toBe("198.18.0.0/15");
        expect(noProxy({ no_proxy: ".example.com" })).toBe(".example.com,198.18.0.0/15");
        expect(noProxy({ NO_PROXY: noProxy({ NO_PROXY: "10.0.0.0/8" }) })).toBe("10.0.0.0/8,198.18.0.0/15");
        expect(proxyFor(apiServerUrl, { HTTPS_PROXY: "http://proxy.example", NO_PROXY: noProxy({}) })).toBeUndefined();
    });
});

it("a cgroup that ends while the sandbox looks for processes counts as none", () => {
    expect(withGroupsBelow("/sys/fs/cgroup/chaos-shop-that-has-ended")).toEqual([]);
});

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../../../toolchain/run-command";
import { archivesPath, importedImages } from "../../node/components/containerd";
import { sandboxDown } from "../../node/down";
import { layout } from "../../node/layout";
import { firstNode } from "../../node/nodes";
import { runningComponent } from "../../node/processes";
import { sandboxStatus } from "../../node/status";
import { sandboxUp } from "../../node/up";
import { cachePaths } from "../../../toolchain/parts/paths";
import { commandLines } from "./processes";
import { nodeImage } from "./support";
import { until } from "../../../test/support/until";

const project = join(__dirname, "..", "..", "..");

/** What of a sandbox could be left on a machine. */
function traces() {
    const print = (command: string, ...args: string[]) => execFileSync(command, args, { encoding: "utf8" });
    const lines = (text: string, pattern: RegExp) => text.split("\n").filter((line) => pattern.test(line));
    const { cache } = cachePaths();
    return {
        mounts: lines(readFileSync("/proc/mounts", "utf8"), new RegExp(layout.root)),
        links: lines(print("ip", "-brief", "link"), /chaos-shop/),
        namespaces: lines(print("ip", "netns"), /./),
        routes: lines(print("ip", "route"), /198\.18\./),
        // Counters and times aside.
        firewall: lines(print("iptables-save"), /^-A/),
        processes: commandLines().filter((command) => command.includes(cache) && !command.includes("vitest")),
        cgroups: ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"]
            .flatMap((root) => (existsSync(root) ? readdirSync(root) : []))
            .filter((name) => /chaos-shop/.test(name)),
    };
}

const nothing = { mounts: [], links: [], namespaces: [], routes: [], processes: [], cgroups: [] };

/** `npm run sandbox -- up`, as a process that can be killed with all its children. */
function upInAProcess(): ChildProcess {
    return spawn(process.execPath, ["--import", "tsx", "sandbox/cli.ts", "up"], {
        cwd: project,
        stdio: "ignore",
        detached: true,
    });
}

beforeAll(async () => {
    await sandboxUp();
});
afterAll(async () => {
    await sandboxUp();
});

describe("up", () => {
    it("does nothing if the sandbox is up", async () => {
        const begun = Date.now();
        expect(await sandboxUp()).toMatchObject({ wasUp: true, context: "chaos-shop-sandbox" });
        expect(Date.now() - begun).toBeLessThan(5_000);
    });

    it("imports an image that the running node lacks", async () => {
        const image = nodeImage;
        const imported = JSON.parse(readFileSync(archivesPath(), "utf8")) as Record<string, string>;
        const { [image]: _, ...others } = imported;
        writeFileSync(archivesPath(), JSON.stringify(others));
        await runCommand("ctr", [
            "--address",
            firstNode.folders.containerdSocket,
            "--namespace",
            "k8s.io",
            "images",
            "remove",
            "--sync",
            image,
        ]);
        expect(await importedImages()).not.toContain(image);

        expect((await sandboxUp()).wasUp).toBe(false);
        expect(await importedImages()).toContain(image);
        expect((await sandboxUp()).wasUp).toBe(true);
    });

    it.each(["etcd", "kube-apiserver", "kubelet", "containerd", "kube-proxy"])("restarts a killed %s", async (name) => {
        const component = (await sandboxStatus()).components.find((each) => each.name === name)!;
        process.kill(component.pid!, "SIGKILL");
        await sleep(200);
        expect((await sandboxStatus()).state).toBe("broken");
        await sandboxUp();
        expect((await sandboxStatus()).problems).toEqual([]);
    });

    it("has restarted all of them for good: they stay up", async () => {
        for (const until = Date.now() + 5_000; Date.now() < until; await sleep(500))
            expect((await sandboxStatus()).problems).toEqual([]);
    });
});

describe("down", () => {
    it("leaves no process, mount, interface, route, firewall rule or cgroup; up then takes at most 30 s", async () => {
        await sandboxDown();
        const left = traces();
        expect(left).toEqual({
            ...nothing,
            firewall: left.firewall.filter((rule) => !/KUBE|CNI|chaos-shop/.test(rule)),
        });
        expect((await sandboxStatus()).state).toBe("down");

        const begun = Date.now();
        expect((await sandboxUp()).wasUp).toBe(false);
        expect(Date.now() - begun).toBeLessThan(30_000);
        expect(await sandboxStatus()).toMatchObject({ problems: [], state: "up" });
    });

    it("may be followed by an up in which etcd answers only after the API server has given up", async () => {
        await sandboxDown();
        const up = sandboxUp();
        const { pid } = await until("etcd runs", () => runningComponent("etcd"), { timeoutMs: 20_000, pauseMs: 20 });
        process.kill(pid, "SIGSTOP");
        await sleep(25_000);
        process.kill(pid, "SIGCONT");
        await up;
        expect(await sandboxStatus()).toMatchObject({ problems: [], state: "up" });
    });

    it("is followed by an up that fails with the log of etcd if that cannot read its data", async () => {
        await sandboxDown();
        const [data, kept] = [join(layout.etcd, "member"), join(layout.etcd, "kept")];
        renameSync(data, kept);
        writeFileSync(data, "no folder");
        try {
            await expect(sandboxUp()).rejects.toThrow(
                /^etcd ended unexpectedly; its log is .*member.*not a directory/s,
            );
        } finally {
            await sandboxDown();
            rmSync(data);
            renameSync(kept, data);
        }
        await sandboxUp();
    });

    it("does nothing if the sandbox is down", async () => {
        await sandboxDown();
        expect(await sandboxDown()).toBe(false);
    });
});

describe("an up that is killed", () => {
    it.each([1_000, 2_500, 5_000])("after %i ms is repaired by up and removed by down", async (afterMs) => {
        await sandboxDown();
        const up = upInAProcess();
        await sleep(afterMs);
        process.kill(-up.pid!, "SIGKILL");
        await sandboxUp();
        expect(await sandboxStatus()).toMatchObject({ problems: [], state: "up" });

        await sandboxDown();
        const another = upInAProcess();
        await sleep(afterMs);
        process.kill(-another.pid!, "SIGKILL");
        await sandboxDown();
        expect(traces()).toMatchObject(nothing);
    });
});

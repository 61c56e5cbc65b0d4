import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { programOf, type Tool, tools } from "../../chaos/kinds/attacks/stress/stress-programs";
import { filesFor, filesIn, rateBetween, readingOf } from "../../chaos/kinds/attacks/stress/readings";
import { until } from "../support/until";

const installed = (Object.keys(tools) as Tool[]).filter((tool) => spawnSync(tool, ["--version"]).error === undefined);

/** Processes whose environment has this, which children inherit. */
const mark = `STRESS_PROGRAM_OF_TEST=${process.pid}`;
const processes = () =>
    readdirSync("/proc").filter((name) => {
        try {
            return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, "utf8").includes(mark);
        } catch {
            return false;
        }
    });

/** What they have used, and hold. */
const used = () => processes().reduce((sum, pid) => sum + secondsOf(pid), 0);
const held = () => Math.max(0, ...processes().map(bytesOf));

function secondsOf(pid: string): number {
    const stat = textOf(pid, "stat").split(") ").at(-1)!.split(" ");
    return (Number(stat[11] ?? 0) + Number(stat[12] ?? 0)) / 100;
}
const bytesOf = (pid: string) => Number(/^VmRSS:\s+(\d+)/m.exec(textOf(pid, "status"))?.[1] ?? 0) * 1_024;

function textOf(pid: string, file: string): string {
    try {
        return readFileSync(`/proc/${pid}/${file}`, "utf8");
    } catch {
        return "";
    }
}

let child: ChildProcess | undefined;
afterEach(() => void child?.kill("SIGKILL"));

function start(tool: Tool, of: Partial<Parameters<typeof programOf>[1]> = {}, variables: NodeJS.ProcessEnv = {}) {
    const files = ["/proc/uptime", "/no/such/file", "/proc/self/oom_score_adj"];
    const [command, ...args] = programOf(tool, { workers: 0, permille: 0, lastSeconds: 60, files, ...of });
    const [name, value] = mark.split("=") as [string, string];
    const env = { ...process.env, [name]: value, ...variables };
    const started = spawn(command!, args, { env, stdio: ["pipe", "pipe", "ignore"] });
    started.stdin.on("error", () => undefined);
    started.stdout.on("data", (text: Buffer) => (printed += text.toString()));
    child = started;
    return started;
}
let printed = "";
const reports = () => printed.split("\n.\n").length - 1;

const untilReports = (count: number) => until(`${count} reports`, () => Promise.resolve(reports() >= count));
const untilNone = (timeoutMs: number) =>
    until("no process is left", () => Promise.resolve(processes().length === 0), { timeoutMs, pauseMs: 50 });

describe.each(installed)("the program for %s", (tool) => {
    it("says what files say at once, burns and holds when it is told to, and ends with its input", async () => {
        printed = "";
        const { stdin } = start(tool, { workers: 2, permille: 100 });
        await untilReports(1);
        expect(printed).toMatch(/^=\/proc\/uptime\n[\d.]+ [\d.]+\n=\/proc\/self\/oom_score_adj\n1000\n\.\n$/);
        const before = used();
        await sleep(1_000);
        expect(used() - before).toBeLessThan(0.1);
        stdin.write(`${20 * 2 ** 20}\n`);
        await untilReports(2);
        expect(held()).toBeGreaterThan(20 * 2 ** 20);
        const burning = used();
        await sleep(2_000);
        expect(used() - burning).toBeGreaterThan(0.1);
        expect(used() - burning).toBeLessThan(0.9);
        stdin.write(`${20 * 2 ** 20}\n`);
        await untilReports(3);
        stdin.end();
        await untilNone(3_000);
    });

    it("says what its own processes use, and what it holds", async () => {
        printed = "";
        const { stdin } = start(tool, { workers: 2, permille: 200, files: filesFor() });
        await untilReports(1);
        stdin.write("0\n");
        for (let turn = 2; turn <= 6; turn++) {
            await untilReports(turn);
            await sleep(500);
            stdin.write(`${40 * 2 ** 20}\n`);
        }
        await untilReports(7);
        const cgroup = "=/sys/fs/cgroup/cpu.stat\nusage_usec 1\n=/sys/fs/cgroup/memory.current\n1\n";
        const [, before, , , , , now] = printed.split("\n.\n").map((one) => readingOf(filesIn(`${one}\n${cgroup}`)));
        expect(rateBetween(before!, now!).own).toBeGreaterThan(0.2);
        expect(now!.own!.cpu).toBeLessThan(used() + 0.1);
        expect(now!.own!.bytes).toBeGreaterThan(40 * 2 ** 20);
        expect(now!.own!.bytes - before!.own!.bytes).toBeLessThan(80 * 2 ** 20);
        stdin.end();
        await untilNone(3_000);
    });

    it("gives memory back within two lines, also what it took again", async () => {
        printed = "";
        const { stdin } = start(tool);
        await untilReports(1);
        const before = held();
        for (const mib of [60, 20, 60, 20]) {
            for (let seconds = 0; seconds < 2; seconds++) {
                stdin.write(`${mib * 2 ** 20}\n`);
                await sleep(1_000);
            }
            if (mib === 60) expect(held()).toBeGreaterThan(60 * 2 ** 20);
            else expect(held()).toBeLessThan(before + 25 * 2 ** 20);
        }
        stdin.end();
        await untilNone(3_000);
    });

    it("ends at anything but a number, and leaves nothing when it is killed", async () => {
        printed = "";
        const first = start(tool, { workers: 1, permille: 100 });
        first.stdin.write("0\n");
        await untilReports(2);
        first.stdin.write("end\n");
        await untilNone(3_000);
        printed = "";
        const second = start(tool, { workers: 1, permille: 100 });
        second.stdin.write(`${2 ** 20}\n`);
        await untilReports(2);
        second.kill("SIGKILL");
        await untilNone(3_000);
    });

    it("ends 10 s after the last line, and after its whole time", async () => {
        printed = "";
        start(tool, { workers: 1, permille: 10 }).stdin.write("0\n");
        await untilReports(2);
        const begun = performance.now();
        await untilNone(15_000);
        expect(performance.now() - begun).toBeGreaterThan(8_000);
        const { stdin } = start(tool, { workers: 1, permille: 10, lastSeconds: 3 });
        const renewing = setInterval(() => stdin.write("0\n"), 500);
        await untilNone(8_000).finally(() => clearInterval(renewing));
    });
});

it.each([0, -1])("says which process of it was killed, and ends: %d", async (which) => {
    for (const tool of installed.filter((one) => !one.endsWith("node"))) {
        printed = "";
        const { pid, stdin } = start(tool, { workers: 1, permille: 10 });
        stdin.write("0\n");
        await untilReports(2);
        // A shell also has children that sleep.
        const children = processes().filter((one) => Number(one) !== pid && !/^sleep/.test(textOf(one, "cmdline")));
        process.kill(Number(children.at(which)), "SIGKILL");
        const killed = tool === "sh" ? /\n\.\n!137\n$/ : /\n\.\n!9\n$/;
        await until(`${tool} says which`, () => Promise.resolve(killed.test(printed)), { timeoutMs: 3_000 });
        await untilNone(3_000);
    }
});

describe("what others have the application's runtime load", () => {
    const folder = mkdtempSync(join(tmpdir(), "stress-"));
    afterAll(() => rmSync(folder, { recursive: true }));
    const loaded = () => (existsSync(`${folder}/log`) ? readFileSync(`${folder}/log`, "utf8") : "");
    const tellsIn = async (tool: Tool, variables: NodeJS.ProcessEnv) => {
        printed = "";
        const { stdin } = start(tool, { workers: 2, permille: 100 }, variables);
        await untilReports(1);
        stdin.write("0\n");
        await untilReports(2);
        await sleep(500);
        stdin.end();
        await untilNone(3_000);
        return loaded();
    };

    it.runIf(installed.includes("python3"))("is not loaded by Python's program", async () => {
        writeFileSync(`${folder}/sitecustomize.py`, `open("${folder}/log", "a").write("python")`);
        expect(await tellsIn("python3", { PYTHONPATH: folder })).toBe("");
    });

    it("is loaded by Node.js once, and not for each core", async () => {
        const tells = `require("fs").appendFileSync("${folder}/log", require("worker_threads").threadId + " ")`;
        writeFileSync(`${folder}/tells.cjs`, tells);
        expect(await tellsIn("node", { NODE_OPTIONS: `--require ${folder}/tells.cjs` })).toBe("0 ");
    });
});

it("a shell without `sleep`, with which it would use a whole core, says nothing and ends", async () => {
    printed = "";
    const shell = realpathSync("/bin/sh");
    const [, ...args] = programOf("sh", { workers: 0, permille: 0, lastSeconds: 2, files: ["/proc/uptime"] });
    const { status, stdout } = spawnSync(shell, args, { env: { PATH: "/no/such/folder" }, timeout: 3_000 });
    expect([status, stdout.toString()]).toEqual([97, ""]);
});

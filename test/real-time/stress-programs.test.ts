import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
    existsSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    realpathSync,
    rmSync,
    symlinkSync,
    writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { programOf, type Tool, tools } from "../../chaos/kinds/attacks/stress/stress-programs";
import { filesFor, filesIn, rateBetween, readingOf } from "../../chaos/kinds/attacks/stress/readings";
import { local, type Patience, until } from "../support/until";

const installed = (Object.keys(tools) as Tool[]).filter((tool) => spawnSync(tool, ["--version"]).error === undefined);

const mib = 2 ** 20;

let count = 0;
const running: ChildProcess[] = [];
afterEach(() => {
    for (const child of running.splice(0)) child.kill("SIGKILL");
});

/** Runs the program for a tool. What it prints and its processes are told apart from those of others. */
function start(tool: Tool, of: Partial<Parameters<typeof programOf>[1]> = {}, variables: NodeJS.ProcessEnv = {}) {
    const files = ["/proc/uptime", "/no/such/file", "/proc/self/oom_score_adj"];
    const [command, ...args] = programOf(tool, { workers: 0, permille: 0, lastSeconds: 60, files, ...of });
    // Children inherit it.
    const [name, value] = ["STRESS_PROGRAM_OF_TEST", `${process.pid}-${count++};`];
    const env = { ...process.env, [name]: value, ...variables };
    const child = spawn(command!, args, { env, stdio: ["pipe", "pipe", "ignore"] });
    let printed = "";
    child.stdin.on("error", () => undefined);
    child.stdout.on("data", (text: Buffer) => (printed += text.toString()));
    running.push(child);

    const processes = () =>
        readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && textOf(pid, "environ").includes(`${name}=${value}`));
    const untilReports = (reports: number) =>
        until(`${reports} reports of ${tool}`, () => printed.split("\n.\n").length - 1 >= reports, local);
    return {
        child,
        processes,
        untilReports,
        printed: () => printed,
        /** Writes a line, and waits for what the program reports once it holds that. */
        async hold(bytes: number) {
            const before = printed.split("\n.\n").length - 1;
            child.stdin.write(`${bytes}\n`);
            await untilReports(before + 1);
        },
        untilNone: (patience: Patience = local) =>
            until(`no process of ${tool} is left`, () => processes().length === 0, patience),
        /** The seconds of processor time that its processes have used. */
        used: () => processes().reduce((sum, pid) => sum + secondsOf(pid), 0),
        /** The bytes of the one that holds most. */
        held: () => Math.max(0, ...processes().map(bytesOf)),
    };
}

const secondsOf = (pid: string): number => {
    const stat = textOf(pid, "stat").split(") ").at(-1)!.split(" ");
    return (Number(stat[11] ?? 0) + Number(stat[12] ?? 0)) / 100;
};
const bytesOf = (pid: string) => Number(/^VmRSS:\s+(\d+)/m.exec(textOf(pid, "status"))?.[1] ?? 0) * 1_024;

function textOf(pid: string, file: string): string {
    try {
        return readFileSync(`/proc/${pid}/${file}`, "utf8");
    } catch {
        return "";
    }
}

describe.each(installed)("the program for %s", (tool) => {
    it("says what files say at once, burns and holds when it is told to, and ends with its input", async () => {
        const program = start(tool, { workers: 2, permille: 100 });
        await program.untilReports(1);
        expect(program.printed()).toMatch(/^=\/proc\/uptime\n[\d.]+ [\d.]+\n=\/proc\/self\/oom_score_adj\n1000\n\.\n$/);
        const before = program.used();
        await sleep(1_000);
        expect(program.used() - before).toBeLessThan(0.1);
        await program.hold(20 * mib);
        expect(program.held()).toBeGreaterThan(20 * mib);
        const burning = program.used();
        await sleep(2_000);
        expect(program.used() - burning).toBeGreaterThan(0.05);
        expect(program.used() - burning).toBeLessThan(0.9);
        await program.hold(20 * mib);
        program.child.stdin.end();
        await program.untilNone();
    });

    it("says what its own processes use, and what it holds", async () => {
        const program = start(tool, { workers: 2, permille: 200, files: filesFor() });
        await program.untilReports(1);
        await program.hold(0);
        for (let seconds = 0; seconds < 2.5; seconds += 0.5) {
            await sleep(500);
            await program.hold(40 * mib);
        }
        const cgroup = "=/sys/fs/cgroup/cpu.stat\nusage_usec 1\n=/sys/fs/cgroup/memory.current\n1\n";
        const reports = program.printed().split("\n.\n");
        const [, before, , , , , now] = reports.map((one) => readingOf(filesIn(`${one}\n${cgroup}`)));
        expect(rateBetween(before!, now!).own).toBeGreaterThan(0.1);
        expect(now!.own!.cpu).toBeLessThan(program.used() + 0.1);
        expect(now!.own!.bytes).toBeGreaterThan(40 * mib);
        expect(now!.own!.bytes - before!.own!.bytes).toBeLessThan(80 * mib);
        program.child.stdin.end();
        await program.untilNone();
    });

    it("gives memory back within two lines, also what it took again", async () => {
        const program = start(tool);
        await program.untilReports(1);
        const before = program.held();
        for (const amount of [60, 20, 60, 20]) {
            for (let lines = 0; lines < 2; lines++) await program.hold(amount * mib);
            if (amount === 60) expect(program.held()).toBeGreaterThan(60 * mib);
            else await until("it is given back", () => program.held() < before + 25 * mib, local);
        }
        program.child.stdin.end();
        await program.untilNone();
    });

    it("ends at anything but a number, and leaves nothing when it is killed", async () => {
        const first = start(tool, { workers: 1, permille: 100 });
        await first.untilReports(1);
        await first.hold(0);
        first.child.stdin.write("end\n");
        await first.untilNone();
        const second = start(tool, { workers: 1, permille: 100 });
        await second.untilReports(1);
        await second.hold(mib);
        second.child.kill("SIGKILL");
        await second.untilNone();
    });
});

it("each ends 10 s after the last line, and after its whole time", async () => {
    const ends = async (tool: Tool) => {
        const silent = start(tool, { workers: 1, permille: 10 });
        await silent.untilReports(1);
        await silent.hold(0);
        const begun = performance.now();
        await silent.untilNone({ timeoutMs: 20_000 });
        expect(performance.now() - begun, tool).toBeGreaterThan(8_000);
        const renewed = start(tool, { workers: 1, permille: 10, lastSeconds: 3 });
        const renewing = setInterval(() => renewed.child.stdin.write("0\n"), 500);
        await renewed.untilNone({ timeoutMs: 8_000 }).finally(() => clearInterval(renewing));
    };
    await Promise.all(installed.map(ends));
});

it.each([0, -1])("says which process of it was killed, and ends: %d", async (which) => {
    for (const tool of installed.filter((one) => !one.endsWith("node"))) {
        const { child, ...program } = start(tool, { workers: 1, permille: 10 });
        await program.untilReports(1);
        await program.hold(0);
        // A shell also has children that sleep.
        const children = program
            .processes()
            .filter((pid) => Number(pid) !== child.pid && !/^sleep/.test(textOf(pid, "cmdline")));
        process.kill(Number(children.at(which)), "SIGKILL");
        const killed = tool === "sh" ? /\n\.\n!137\n$/ : /\n\.\n!9\n$/;
        await until(`${tool} says which`, () => killed.test(program.printed()), local);
        await program.untilNone();
    }
});

describe("what others have the application's runtime load", () => {
    const folder = mkdtempSync(join(tmpdir(), "stress-"));
    afterAll(() => rmSync(folder, { recursive: true }));
    const loaded = () => (existsSync(`${folder}/log`) ? readFileSync(`${folder}/log`, "utf8") : "");
    const tellsIn = async (tool: Tool, variables: NodeJS.ProcessEnv) => {
        const program = start(tool, { workers: 2, permille: 100 }, variables);
        await program.untilReports(1);
        await program.hold(0);
        await sleep(500);
        program.child.stdin.end();
        await program.untilNone();
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
    const folder = mkdtempSync(join(tmpdir(), "stress-"));
    // The program starts a second shell, which it finds in PATH.
    symlinkSync(realpathSync("/bin/sh"), `${folder}/sh`);
    const [, ...args] = programOf("sh", { workers: 0, permille: 0, lastSeconds: 2, files: ["/proc/uptime"] });
    try {
        const { status, stdout } = spawnSync(`${folder}/sh`, args, { env: { PATH: folder }, timeout: 3_000 });
        expect([status, stdout.toString()]).toEqual([97, ""]);
    } finally {
        rmSync(folder, { recursive: true });
    }
});

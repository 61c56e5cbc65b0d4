import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { ApiServerPulse } from "../../../../../chaos/kinds/checks/api-server";
import { command, type CommandCheck } from "../../../../../chaos/kinds/checks/command";
import { local, until } from "../../../../support/until";
import { FakeCluster } from "../../support/fake-cluster";
import { contextOf, unseen } from "./support";

const folder = mkdtempSync(join(tmpdir(), "command-"));
afterAll(() => rmSync(folder, { recursive: true }));

function script(name: string, text: string, mode = 0o755): string {
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/sh\n${text}\n`);
    chmodSync(file, mode);
    return file;
}

const look = (program: string | string[], fields: Partial<CommandCheck> = {}, timeoutMs = 5_000) =>
    command.probe({ kind: "command", command: [program].flat(), ...fields }, contextOf(new FakeCluster()), timeoutMs);

describe("while the API server does not answer this machine either, a run of a program", () => {
    const run = (text: string, isSilent: boolean) => {
        const pulse = { wasSilentSince: () => isSilent } as unknown as ApiServerPulse;
        const context = { ...contextOf(new FakeCluster()), pulse };
        return command.probe({ kind: "command", command: [script("stalled.sh", text)] }, context, 5_000);
    };

    it("says nothing of the application if it fails: it may have asked over the same network", async () => {
        expect(await run("exit 1", true)).toMatchObject(
            unseen("exit code 1 (required: 0), while the API server did not answer other requests either"),
        );
        expect(await run("exit 1", false)).not.toHaveProperty("unseen");
    });

    it("is good if it succeeds", async () => expect(await run("exit 0", true)).toMatchObject({ good: true }));
});

describe("a run of a program", () => {
    it.each<[string, string, Partial<CommandCheck>, string | undefined]>([
        ["ends with exit code 0", "exit 0", {}, undefined],
        ["ends with the required exit code", "exit 3", { exitCode: 3 }, undefined],
        ["ends with another one", "exit 3", {}, "exit code 3 (required: 0)"],
        ["says why on its last line", "echo first; echo last; echo; exit 1", {}, "exit code 1 (required: 0): “last”"],
        ["says why on standard error", "echo bad >&2; exit 1", {}, "exit code 1 (required: 0): “bad”"],
        ["is ended by a signal", "kill -SEGV $$", {}, "ended by SIGSEGV"],
    ])("is good or not: it %s", async (_, text, fields, problem) => {
        const answer = await look(script("run.sh", text), fields);
        expect(answer).toMatchObject({ good: problem === undefined });
        expect(answer.problem).toBe(problem);
        expect(answer).not.toHaveProperty("unseen");
    });

    it("does not get the kubeconfig of the step, which it could print into a report", async () => {
        process.env.EXPERIMENT_KUBECONFIG = "a-secret-token";
        const { problem } = await look(script("env.sh", "env | grep -c EXPERIMENT; exit 1"));
        delete process.env.EXPERIMENT_KUBECONFIG;
        expect(problem).toBe("exit code 1 (required: 0): “0”");
    });

    it("gets its arguments without a shell, and the environment of the update", async () => {
        const file = script("args.sh", 'echo "$1|$LIMIT_MS|$CHECK_TEST"; exit 1');
        process.env.CHECK_TEST = "inherited";
        const { problem } = await look([file, "$HOME; *"], { env: { LIMIT_MS: "5" } });
        delete process.env.CHECK_TEST;
        expect(problem).toBe("exit code 1 (required: 0): “$HOME; *|5|inherited”");
    });

    it("is found from the folder of the update", async () => {
        const file = relative(process.cwd(), script("here.sh", "exit 0"));
        expect(await look(file)).toMatchObject({ good: true });
    });

    it("leaves nothing of its output but 200 characters of a line, without control characters", async () => {
        const long = script("long.sh", String.raw`printf '\033[31m%0300d\001\n' 7; exit 1`);
        const { problem } = await look(long);
        expect(problem).toBe(`exit code 1 (required: 0): “${"0".repeat(199)}…”`);
    });
});

describe("nothing is known about the application if the program", () => {
    it.each<[string, string, RegExp]>([
        [
            "is missing",
            "./gone.sh",
            /^\.\/gone\.sh cannot be started: .* does not exist\. Name a file from the folder of the update/,
        ],
        [
            "is not executable",
            script("plain.sh", "exit 0", 0o644),
            /cannot be started: it is not executable; run: chmod \+x /,
        ],
    ])("%s", async (_, program, problem) =>
        expect(await look(program)).toMatchObject(unseen(expect.stringMatching(problem))),
    );
});

describe("nothing is left of a program", () => {
    const processIds = (file: string) => readFileSync(file, "utf8").trim().split("\n").map(Number);
    const runs = (pid: number) => {
        // A process that has ended, and whose end nobody has noticed, still has an id.
        const stat = `/proc/${pid}/stat`;
        return existsSync(stat) && readFileSync(stat, "utf8").split(") ")[1]![0] !== "Z";
    };

    /** A process of its own that runs a program as a check does. */
    const runnerOf = (file: string) => {
        const module = JSON.stringify(resolve("chaos/kinds/checks/run-command.ts"));
        const text = `require(${module}).runCommand("${file}", [], {}, new AbortController().signal)`;
        return spawn(process.execPath, ["--import", "tsx", "--eval", text]);
    };

    it("at its time limit, however it was started", async () => {
        const pids = join(folder, "pids");
        const file = script("slow.sh", `echo $$ > ${pids}; sleep 60 & echo $! >> ${pids}; wait`);
        const begun = performance.now();
        expect(await look(file, {}, 300)).toMatchObject({ good: false, problem: "no answer within 300 ms" });
        expect(performance.now() - begun).toBeLessThan(2_000);
        await until("all its processes have ended", () => !processIds(pids).some(runs), local);
    });

    it("when it has ended", async () => {
        const pids = join(folder, "background");
        const file = script("background.sh", `sleep 60 & echo $! > ${pids}; exit 0`);
        expect(await look(file)).toMatchObject({ good: true });
        await until("all its processes have ended", () => !processIds(pids).some(runs), local);
    });

    it("if the process that runs it is told to end", async () => {
        // The program and what it starts hold a pipe open: its end is theirs.
        const pipe = join(folder, "orphans");
        execFileSync("mkfifo", [pipe]);
        const file = script("orphan.sh", `exec 3> ${pipe}; echo runs >&3; sleep 60`);
        const held = createReadStream(pipe);
        const runner = runnerOf(file);
        await once(held, "data");
        const [ended, exited] = [once(held, "end"), once(runner, "exit")];
        runner.kill("SIGTERM");
        const [, signal] = await exited;
        expect(signal).toBe("SIGTERM");
        await ended;
    }, 60_000);

    it("if that process is told to end at the moment when it starts it", async () => {
        const pids = join(folder, "early");
        const file = script("early.sh", `echo $$ > ${pids}; kill -TERM $PPID; sleep 60 & echo $! >> ${pids}; wait`);
        const [, signal] = await once(runnerOf(file), "exit");
        expect(signal).toBe("SIGTERM");
        await until("all its processes have ended", () => !processIds(pids).some(runs), local);
    });

    it("when several have ended: no listener stays behind, either", async () => {
        const before = process.listenerCount("SIGTERM");
        await Promise.all([1, 2, 3].map(() => look(script("quick.sh", "exit 0"))));
        expect(process.listenerCount("SIGTERM")).toBe(before);
    });
});

it("is named after its command line, and says what is counted", () => {
    const check: CommandCheck = { kind: "command", command: ["./check.sh", "orders"] };
    expect(command.name(check)).toBe("./check.sh orders");
    expect(command.describeSuccess(check)).toBe("runs of ./check.sh orders ended with exit code 0");
});

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { JobContext, JobPart, Permission } from "../../../../../../chaos/kinds/attacks/job-part";
import type { UsageReport } from "../../../../../../chaos/kinds/attacks/stress/usage";
import type { Stress, StressTarget } from "../../../../../../chaos/kinds/attacks/stress/stress-target";
import type { Reading } from "../../../../../../chaos/kinds/attacks/stress/readings";
import { stressInJob } from "../../../../../../chaos/kinds/attacks/stress/stress-in-job";
import { startClock, stopClock } from "../../../support/time";

const mib = 2 ** 20;
const before: Reading = {
    version: 2,
    at: 0,
    cpu: { used: 0, limit: 0.2, periods: 0, throttled: 0 },
    memory: { used: 20 * mib, limit: 128 * mib },
    node: { cores: 2, available: 4_096 * mib },
};
const target: StressTarget = {
    pod: "web-1",
    uid: "u1",
    container: "web",
    containerId: "c1",
    tool: "perl",
    files: [],
    first: before,
    before: { ...before, at: 2 },
};

/** A container in which a program runs: it answers each line, and ends as it is told, or with its connection. */
class Program {
    lines: string[] = [];
    isRunning = true;
    end!: (error?: Error, exitCode?: string) => void;
    /** A process of it is killed, and the others end. */
    lose(): void {
        this.print("!9\n");
        this.end();
    }
    private held = 0;
    private usedAt = Date.now();
    private used = 0;
    private own = 0;

    constructor(private readonly print: (text: string) => void) {
        setTimeout(() => this.report(), 1);
    }

    take(line: string): void {
        if (!this.isRunning) return;
        if (!/^\d+\n$/.test(line)) {
            if (this.lines.length === 0) this.report();
            return this.end();
        }
        this.lines.push(line.trim());
        this.held = Number(line);
        setTimeout(() => this.report(), 5);
    }

    private report(): void {
        if (!this.isRunning) return;
        const seconds = (Date.now() - this.usedAt) / 1_000;
        this.used += seconds * cores;
        this.own += seconds * (cores - application);
        this.usedAt = Date.now();
        const usage = Math.round(this.used * 1e6);
        this.print(
            `=/proc/uptime\n${Date.now() / 1_000} 1\n=/sys/fs/cgroup/cpu.stat\nusage_usec ${usage}\n` +
                `=/sys/fs/cgroup/cpu.max\n${limit} 100000\n=/sys/fs/cgroup/memory.current\n${20 * mib + this.held}\n` +
                `=/sys/fs/cgroup/memory.max\n${memoryLimit * mib}\n` +
                `=/proc/7/stat\n7 (perl) S 1 1 1 0 -1 0 0 0 0 0 ${Math.round(this.own * 100)} 0\n` +
                `=/proc/7/status\nVmRSS: ${this.held / 1_024} kB\n` +
                (kills === undefined ? "" : `=/sys/fs/cgroup/memory.events\noom_kill ${kills}\n`) +
                ".\n",
        );
    }
}

/** What the container is given. */
let cores: number;
/** How many of these the application uses, and not the program. */
let application: number;
let kills: number | undefined;
/** In microseconds of every 100,000, and in MiB. */
let limit: number;
let memoryLimit: number;
let permission: Permission;
let programs: Program[];
let refusal: string | undefined;
let status: object;
let uid: string;
let onExec: () => void;
let missed: { what?: string; problem: string }[];
let usage: UsageReport[];
let ending: AbortController;
let part: JobPart;
beforeEach(() => {
    stopClock();
    target.tool = "perl";
    cores = 0.2;
    application = 0;
    kills = 0;
    [limit, memoryLimit] = [20_000, 128];
    permission = "granted";
    programs = [];
    refusal = undefined;
    uid = "u1";
    onExec = () => undefined;
    status = { name: "web", containerID: "c1", state: { running: {} } };
    missed = [];
    usage = [];
    ending = new AbortController();
});
afterEach(() => {
    ending.abort();
    startClock();
});

function start(stress: Omit<Stress, "lastSeconds">): void {
    const api = {
        get: async () => ({ data: { tried: JSON.stringify([target]) } }),
        async *list() {
            yield { metadata: { uid }, status: { containerStatuses: [status] } };
        },
    };
    const exec: JobContext["exec"] = (_, command, onOutput, signal, onOpen) =>
        new Promise((resolve, reject) => {
            if (refusal !== undefined) return reject(new Error(refusal));
            onExec();
            expect(command[0]).toBe(target.tool);
            const program = new Program((text) => onOutput(Buffer.from(text), false));
            programs.push(program);
            program.end = (error, message) => {
                program.isRunning = false;
                if (error) reject(error);
                else resolve({ details: { causes: message ? [{ reason: "ExitCode", message }] : [] } });
            };
            signal.addEventListener("abort", () => program.end(new Error("closed")));
            onOpen((text) => program.take(text));
        });
    const nothing = () => undefined;
    part = stressInJob({ ...stress, lastSeconds: 60 }, {
        namespace: "demo",
        run: "run",
        label: "e.stress",
        object: {},
        api,
        exec,
        ending: ending.signal,
        permission: async () => permission,
        log: nothing,
        missed: (one: (typeof missed)[number]) => missed.push(one),
        used: (one: UsageReport) => usage.push(one),
    } as unknown as JobContext);
}
const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1_000);
const running = () => programs.filter((one) => one.isRunning).length;

it("nothing runs before the attack may act", async () => {
    permission = "no-attack";
    start({ cpu: "100%" });
    await pass(10);
    expect(programs).toEqual([]);
});

it("a program is renewed every second, and what it takes reported as seen", async () => {
    start({ cpu: "100%" });
    await pass(10);
    expect(programs).toHaveLength(1);
    expect(programs[0]!.lines.length).toBeGreaterThan(7);
    expect(part.last).toEqual({ open: [], closed: ["the CPU load in web-1/web"] });
    await pass(10);
    expect(usage.at(-1)).toMatchObject({ pod: "web-1", cgroup: 2, limit: { cores: 0.2 }, under: { cores: 0.2 } });
});

it("CPU is missing until it shows: nothing has taken what an earlier pod of the Job took meanwhile", async () => {
    start({ cpu: "100%" });
    await pass(0.6);
    expect(part.last).toEqual({ open: ["the CPU load in web-1/web"], closed: [] });
    await pass(5);
    expect(part.last).toEqual({ open: [], closed: ["the CPU load in web-1/web"] });
});

it("CPU that does not show any more is neither for some seconds, and then missing", async () => {
    start({ cpu: "100%" });
    await pass(5);
    cores = 0.1;
    await pass(5);
    expect(part.last).toEqual({ open: [], closed: [] });
    await pass(5);
    expect(part.last).toEqual({ open: ["the CPU load in web-1/web"], closed: [] });
});

it("CPU that the application alone uses does not show the attack", async () => {
    application = cores - 0.001;
    start({ cpu: "100%" });
    await pass(10);
    expect(part.last).toEqual({ open: ["the CPU load in web-1/web"], closed: [] });
});

it("memory grows in steps, and shows when all is held", async () => {
    start({ memory: "40Mi" });
    await pass(4);
    expect(part.last!.closed).toEqual([]);
    expect(programs[0]!.lines.slice(0, 3).map((one) => Number(one) / mib)).toEqual([4, 8, 12]);
    await pass(10);
    expect(Number(programs[0]!.lines.at(-1))).toBe(40 * mib);
    expect(part.last!.closed).toEqual(["the memory load in web-1/web"]);
});

it("memory that fills a container shows, and stays as it is", async () => {
    start({ memory: "100%" });
    await pass(20);
    expect(part.last!.closed).toEqual(["the memory load in web-1/web"]);
    expect(programs[0]!.lines.slice(-5).map((one) => Number(one) / mib)).toEqual([100, 100, 100, 100, 100]);
});

describe("a program ends", () => {
    it.each<[string, () => void]>([
        ["with the attack", () => (permission = "no-attack")],
        ["with the lease", () => (permission = "lease-expired")],
        ["with the Job", () => ending.abort()],
    ])("%s, and does not begin again", async (_, act) => {
        start({ cpu: "100%" });
        await pass(5);
        act();
        await pass(1);
        expect(running()).toBe(0);
        permission = "granted";
        await pass(10);
        expect(programs).toHaveLength(1);
    });

    it("without renewal while the API server does not say whether it may act", async () => {
        start({ cpu: "100%" });
        await pass(5);
        permission = Promise.reject(new Error("no answer")) as never;
        (permission as unknown as Promise<never>).catch(() => undefined);
        await pass(6);
        const { length } = programs[0]!.lines;
        await pass(4);
        expect(programs[0]!.lines).toHaveLength(length);
    });
});

it("CPU whose program has ended does not show until it is seen again", async () => {
    start({ cpu: "100%" });
    await pass(5);
    programs[0]!.end();
    await pass(0.1);
    expect(part.last).toEqual({ open: ["the CPU load in web-1/web"], closed: [] });
    await pass(5);
    expect(part.last).toEqual({ open: [], closed: ["the CPU load in web-1/web"] });
});

it("a program that ends is started again; that it cannot be is reported after some seconds", async () => {
    start({ cpu: "100%" });
    await pass(5);
    programs[0]!.end(new Error("the connection was closed"));
    await pass(2);
    expect(running()).toBe(1);
    refusal = "exec is forbidden";
    programs[1]!.end();
    await pass(10);
    expect(missed).toEqual([expect.objectContaining({ what: "the load in web-1/web", problem: "exec is forbidden" })]);
});

it("a container that was restarted is left alone", async () => {
    status = { name: "web", containerID: "c2" };
    start({ cpu: "100%" });
    await pass(10);
    expect(programs).toEqual([]);
    expect(missed).toEqual([expect.objectContaining({ problem: "the container was restarted" })]);
});

it.each<[string, Omit<Stress, "lastSeconds">, () => void, string]>([
    ["CPU", { cpu: "80%" }, () => (limit = 160_000), "its CPU limit was changed from 0.2 cores to 1.6 cores"],
    ["memory", { memory: "20%" }, () => (memoryLimit = 512), "its memory limit was changed from 128 MiB to 512 MiB"],
])(
    "a limit of %s that somebody changes ends what was a share of it, until it is as before",
    async (_, of, act, why) => {
        start(of);
        await pass(15);
        const shown = part.last!.closed;
        expect(shown).toHaveLength(1);
        act();
        await pass(3);
        expect(part.last).toEqual({ open: shown, closed: [] });
        await pass(10);
        expect(missed).toEqual([expect.objectContaining({ problem: why })]);
        [limit, memoryLimit] = [20_000, 128];
        await pass(20);
        expect(part.last).toEqual({ open: [], closed: shown });
    },
);

it("a limit that changes of what is not taken changes nothing", async () => {
    start({ cpu: "80%" });
    await pass(5);
    memoryLimit = 512;
    await pass(10);
    expect(programs).toHaveLength(1);
});

it("a pod that took the name of the chosen one is told nothing: its program ends", async () => {
    onExec = () => (uid = "u2");
    start({ cpu: "100%" });
    await pass(20);
    expect(programs.map(({ lines, isRunning }) => ({ lines, isRunning }))).toEqual([{ lines: [], isRunning: false }]);
    expect(missed).toEqual([expect.objectContaining({ problem: "the pod is gone, or has lost its label" })]);
});

describe("with untilKilled", () => {
    const killed = async (then: object, end: (program: Program) => void) => {
        start({ memory: "100%", untilKilled: true });
        await pass(10);
        status = then;
        end(programs[0]!);
        await pass(10);
        const stressing = programs.filter(({ lines }) => lines.length > 0).length;
        return { stressing, killed: usage.at(-1)?.killed, shown: part.last!.closed.length, missed };
    };
    const ended = (reason: string, containerID: string) => ({ terminated: { reason, containerID } });
    const close = (program: Program) => program.end(new Error("closed"));
    /** A process of the program is killed for memory. */
    const lose = (program: Program) => {
        kills = 1;
        program.lose();
    };

    const restarted = {
        name: "web",
        containerID: "c2",
        state: { running: {} },
        lastState: ended("OOMKilled", "c1"),
    };
    const waiting = { ...restarted, containerID: "c1", state: { waiting: { reason: "CrashLoopBackOff" } } };

    it.each<[string, object, (program: Program) => void]>([
        ["ends its program", restarted, (program) => program.end()],
        ["closes the connection", restarted, close],
        ["waits to be started again", waiting, close],
        ["is not started yet", { ...waiting, state: ended("OOMKilled", "c1"), lastState: {} }, close],
    ])("a container that is killed, which %s, is what was wanted: it is not stressed again", async (_, then, end) => {
        expect(await killed(then, end)).toEqual({ stressing: 1, killed: "container", shown: 1, missed: [] });
    });

    it("a container that was killed before the run, and now ends by itself, is not", async () => {
        const then = { ...waiting, state: ended("Error", "c1"), lastState: ended("OOMKilled", "c0") };
        expect(await killed(then, close)).toMatchObject({ killed: undefined, shown: 0 });
    });

    it("a program that is killed is told from that", async () => {
        expect(await killed(status, lose)).toEqual({ stressing: 1, killed: "program", shown: 1, missed: [] });
    });

    it.each<[string, number | undefined]>([
        ["was not for memory", 0],
        ["may have been for anything", undefined],
    ])("a kill of the program that, by the container's cgroup, %s does not show", async (_, counted) => {
        kills = counted;
        const seen = await killed(status, (program) => program.lose());
        expect(seen).toMatchObject({ stressing: 2, killed: undefined, shown: 0 });
    });

    it("a program of one process, which says nothing after its end, needs the cgroup's word, too", async () => {
        target.tool = "node";
        const exit137 = (program: Program) => program.end(undefined, "137");
        expect(await killed(status, exit137)).toMatchObject({ stressing: 2, killed: undefined, shown: 0 });
        kills = 1;
        exit137(programs.at(-1)!);
        await pass(10);
        expect(usage.at(-1)?.killed).toBe("program");
    });

    it("nothing is shown until something is killed", async () => {
        start({ memory: "100%", untilKilled: true });
        await pass(20);
        expect(part.last).toEqual({ open: ["the memory load in web-1/web"], closed: [] });
        expect(usage).toEqual([]);
    });

    it("a program that ends for another reason is started again", async () => {
        expect(await killed(status, (program) => program.end())).toMatchObject({ stressing: 2, killed: undefined });
    });
});

import { describe, expect, it } from "vitest";
import {
    filesFor,
    filesIn,
    rateBetween,
    type Reading,
    readingOf,
} from "../../../../../../chaos/kinds/attacks/stress/readings";

/** As a program prints files. */
const printed = (files: Record<string, string>) =>
    Object.entries(files)
        .map(([path, text]) => `=${path}\n${text}\n`)
        .join("");
const reading = (files: Record<string, string>) => readingOf(filesIn(printed(files)));

const node: Record<string, string> = {
    "/proc/uptime": "713.94 225.59",
    "/proc/stat":
        "cpu  100 20 30 400 50 6 7 8 9 0\ncpu0 50 10 15 200 25 3 3 4 5 0\ncpu1 50 10 15 200 25 3 4 4 4 0\nintr 7",
    "/proc/meminfo": "MemTotal:       4000 kB\nMemAvailable:    2000 kB",
};
const v1: Record<string, string> = {
    "/sys/fs/cgroup/cpu/cpu.stat": "nr_periods 63\nnr_throttled 60\nthrottled_time 4018273287\nnr_bursts 0",
    "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "20000",
    "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
    "/sys/fs/cgroup/cpuacct/cpuacct.usage": "1500000000",
    "/sys/fs/cgroup/memory/memory.usage_in_bytes": "50000000",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes": "104857600",
    "/sys/fs/cgroup/memory/memory.stat": "cache 20000000\ninactive_file 1\ntotal_inactive_file 10000000",
    "/sys/fs/cgroup/memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2",
};
const v2: Record<string, string> = {
    "/sys/fs/cgroup/cpu.stat":
        "usage_usec 1500000\nuser_usec 1\nnr_periods 63\nnr_throttled 60\nthrottled_usec 4018273",
    "/sys/fs/cgroup/cpu.max": "20000 100000",
    "/sys/fs/cgroup/memory.current": "50000000",
    "/sys/fs/cgroup/memory.max": "104857600",
    "/sys/fs/cgroup/memory.stat": "anon 1\ninactive_file 10000000",
    "/sys/fs/cgroup/memory.events": "low 0\nhigh 0\nmax 3\noom 2\noom_kill 2\noom_group_kill 0",
};
const same = {
    at: 713.94,
    cpu: { used: 1.5, limit: 0.2, periods: 63, throttled: 60 },
    memory: { used: 40_000_000, limit: 104_857_600, kills: 2 },
    node: { cores: 2, time: 6.21, busy: 1.71, available: 2_048_000 },
};

describe.each([
    { version: 1, files: v1 },
    { version: 2, files: v2 },
])("cgroup v$version", ({ version, files }) => {
    it("says what a container uses, and its limits", () => {
        expect(reading({ ...node, ...files })).toEqual({ version, ...same });
    });

    it("of which all is readable is among the files that are read", () => {
        const asked = filesFor();
        expect(Object.keys({ ...node, ...files }).filter((path) => !asked.includes(path))).toEqual([]);
    });

    it("may have no limit", () => {
        const none: Record<string, string> =
            version === 1
                ? {
                      "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
                      "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
                  }
                : { "/sys/fs/cgroup/cpu.max": "max 100000", "/sys/fs/cgroup/memory.max": "max" };
        const { cpu, memory } = reading({ ...node, ...files, ...none })!;
        expect([cpu.limit, memory.limit]).toEqual([undefined, undefined]);
    });

    it("of a container that sees its node's is the one below", () => {
        const path = "/kubepods/pod1/abc";
        const cgroups = version === 1 ? ["cpu", "cpuacct", "memory"] : [""];
        const asked = filesFor(cgroups.map((one, index) => `${index}:${one}:${path}`).join("\n"));
        const below = (file: string) => file.replace(/(\/[^/]+)$/, `${path}$1`);
        const all = { ...node, ...files, ...Object.fromEntries(Object.entries(files).map(([k, v]) => [below(k), v])) };
        const ofNode = Object.fromEntries(Object.keys(files).map((file) => [file, "usage_usec 7\nnr_periods 9"]));
        const found = Object.fromEntries(
            asked.flatMap((file) => (file in all ? [[file, { ...all, ...ofNode }[file]!]] : [])),
        );
        expect(reading(found)).toMatchObject({ cpu: same.cpu, memory: same.memory });
    });
});

it("a root cgroup, which has no memory of its own, says nothing", () => {
    const { "/sys/fs/cgroup/memory.current": _, ...root } = v2;
    expect(reading({ ...node, ...root })).toBeUndefined();
});

it("without the files of a node, only the node is not known", () => {
    expect(reading({ "/proc/uptime": "1.00 2.00", ...v2 })).toMatchObject({ cpu: same.cpu, node: {} });
});

it("a node with more cores than lines are printed has those that are online", () => {
    const lines = Array.from({ length: 63 }, (_, index) => `cpu${index} 1 0 1 1 0 0 0 0 0 0`);
    const stat = ["cpu  100 20 30 400 50 6 7 8 9 0", ...lines].join("\n");
    const coresOf = (more: Record<string, string>) =>
        reading({ ...node, ...v2, "/proc/stat": stat, ...more })!.node.cores;
    expect(coresOf({ "/sys/devices/system/cpu/online": "0-95" })).toBe(96);
    expect(coresOf({ "/sys/devices/system/cpu/online": "0-62" })).toBe(63);
    expect(coresOf({ "/sys/devices/system/cpu/online": "0,2-64" })).toBe(64);
    expect(coresOf({})).toBeUndefined();
});

it("what the program uses is counted once for each of its processes", () => {
    const stat = (pid: number, user: number, system: number) =>
        `${pid} (a b) S 1 1 1 0 -1 0 0 0 0 0 ${user} ${system} 0 0`;
    const own = {
        "/proc/self/stat": stat(7, 100, 50),
        "/proc/7/stat": stat(7, 100, 50),
        "/proc/8/stat": stat(8, 20, 30),
        "/proc/self/status": "Name: perl\nVmRSS:\t   6000 kB",
        "/proc/9/status": "Name: perl\nVmRSS:\t   50000 kB",
    };
    const now = reading({ ...node, ...v2, ...own })!;
    expect(now.own).toEqual({ cpu: 2, bytes: 50_000 * 1_024 });
    const before = { ...now, at: now.at - 2, own: { cpu: 1, bytes: 0 } };
    expect(rateBetween(before, now).own).toBeCloseTo(0.5);
});

it("a rate is what was used between two readings", () => {
    const before = reading({ ...node, ...v2 })!;
    const now: Reading = {
        ...before,
        at: before.at + 2,
        cpu: { used: 1.9, limit: 0.2, periods: 83, throttled: 75 },
        node: { cores: 2, time: 10.21, busy: 4.71 },
    };
    const { cores, ...rate } = rateBetween(before, now);
    expect(cores).toBeCloseTo(0.2);
    expect(rate).toEqual({ seconds: 2, throttled: 0.75, nodeBusy: expect.closeTo(0.75) as number });
});

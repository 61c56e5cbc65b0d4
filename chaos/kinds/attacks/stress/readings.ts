/**
 * What a container's own cgroup and its node say of CPU and memory, of cgroup v1 and v2, as a program of
 * `stress-programs.ts` prints it: of each file that it could read, `=` and its path in a line, then its lines.
 *
 * @see https://docs.kernel.org/admin-guide/cgroup-v2.html, https://docs.kernel.org/admin-guide/cgroup-v1/
 */

/** A moment of a container. Times are in seconds, sizes in bytes. */
export interface Reading {
    /** Of the cgroup files. */
    version: 1 | 2;
    /** By the node's uptime. */
    at: number;
    cpu: {
        /** Time that all its processes have used. */
        used: number;
        /** In cores. Absent if there is none. */
        limit?: number;
        /** Periods of the limit. 0 without a limit. */
        periods: number;
        /** In how many of them it had to wait. 0 without a limit. */
        throttled: number;
    };
    memory: {
        /** What counts towards the limit, without files that the kernel can drop: what `kubectl top` shows. */
        used: number;
        /** In bytes. Absent if there is none. */
        limit?: number;
        /** How many of its processes were killed for memory. Absent if the kernel does not say. */
        kills?: number;
    };
    /** Of the node, as far as a container sees it. Absent where it does not. */
    node: {
        /** How many it has. Absent if that is not known. */
        cores?: number;
        /** Time of all cores since it started, idle or not. */
        time?: number;
        /** How much of that was used. */
        busy?: number;
        /** Memory that new programs could have without swapping. */
        available?: number;
    };
    /** Of the program that has printed this, with its children. Absent if it does not say. */
    own?: {
        /** Time that they have used. */
        cpu: number;
        /** Of the process that has most of its memory in the node's. */
        bytes: number;
    };
}

const root = "/sys/fs/cgroup";

const filesOfV2 = ["cpu.stat", "cpu.max", "memory.current", "memory.max", "memory.stat", "memory.events"];
/** By the controller. */
const filesOfV1 = {
    cpu: ["cpu.stat", "cpu.cfs_quota_us", "cpu.cfs_period_us"],
    cpuacct: ["cpuacct.usage"],
    memory: ["memory.usage_in_bytes", "memory.limit_in_bytes", "memory.stat", "memory.oom_control"],
};
const filesOfNode = ["/proc/uptime", "/proc/stat", "/sys/devices/system/cpu/online", "/proc/meminfo"];
const filesOfProgram = ["/proc/self/stat", "/proc/self/status"];
/** Programs print so many lines of a file. */
const mostLines = 64;
/** Says which cgroups a program is in: see `filesFor`. */
export const ownCgroups = "/proc/self/cgroup";

/**
 * The files to read. Usually a container's `/sys/fs/cgroup` begins at its own cgroup. In one that sees the node's, as
 * some privileged ones do, its own is below, where `/proc/self/cgroup` says.
 *
 * @param cgroups what that says. @default it is read first
 */
export function filesFor(cgroups = ""): string[] {
    const below = new Map<string, string>();
    for (const line of cgroups.split("\n")) {
        const [, controllers, path] = /^\d+:([^:]*):(\/.+)$/.exec(line) ?? [];
        for (const one of controllers?.split(",") ?? []) below.set(one, path!);
    }
    const places = (folder: string, path: string | undefined, files: readonly string[]) =>
        [...(path === undefined ? [] : [folder + path]), folder].flatMap((at) => files.map((file) => `${at}/${file}`));
    return [
        ...filesOfNode,
        ...filesOfProgram,
        ownCgroups,
        ...places(root, below.get(""), filesOfV2),
        ...Object.entries(filesOfV1).flatMap(([one, files]) => places(`${root}/${one}`, below.get(one), files)),
    ];
}

/** The contents of files that could be read, by their paths. */
export type Files = ReadonlyMap<string, string>;

/** What a program has printed of each file. */
export function filesIn(report: string): Files {
    const files = new Map<string, string>();
    for (const part of report.split(/^=/m).slice(1)) {
        const end = part.indexOf("\n");
        files.set(part.slice(0, end), part.slice(end + 1));
    }
    return files;
}

/** A file with a number and nothing else, or with `max` for none. */
const number = (text: string | undefined) => (/^\s*\d+(\.\d+)?/.test(text ?? "") ? parseFloat(text!) : undefined);

/** The number after a word at the beginning of a line. */
const field = (text: string | undefined, name: string) => {
    const found = new RegExp(`^${name}:?\\s+(\\d+)`, "m").exec(text ?? "");
    return found ? Number(found[1]) : undefined;
};

/** What no limit is written as in cgroup v1: almost 8 EiB. */
const endless = 2 ** 62;

/** Reads what the files say at that moment. @returns undefined if they do not say what the container uses */
export function readingOf(files: Files): Reading | undefined {
    const find = (folder: string, file: string) => {
        // A cgroup below the folder comes first, and only such a one is the container's own if both are there.
        const paths = [...files.keys()].filter((path) => path.startsWith(`${folder}/`) && path.endsWith(`/${file}`));
        return paths.length === 0 ? undefined : files.get(paths[0]!);
    };
    const at = number(files.get("/proc/uptime"));
    const own = ofV2(find) ?? ofV1(find);
    return at === undefined || own === undefined ? undefined : { ...own, at, node: nodeOf(files), ...programOf(files) };
}

type Find = (folder: string, file: string) => string | undefined;
type Own = Pick<Reading, "version" | "cpu" | "memory">;

function ofV2(find: Find): Own | undefined {
    const cpu = find(root, "cpu.stat");
    const used = field(cpu, "usage_usec");
    const bytes = number(find(root, "memory.current"));
    if (used === undefined || bytes === undefined) return undefined;
    const [, quota, period] = /^(\d+) (\d+)/.exec(find(root, "cpu.max") ?? "") ?? [];
    return {
        version: 2,
        cpu: {
            used: used / 1e6,
            ...(period !== undefined && { limit: Number(quota) / Number(period) }),
            periods: field(cpu, "nr_periods") ?? 0,
            throttled: field(cpu, "nr_throttled") ?? 0,
        },
        memory: memoryOf(
            bytes - (field(find(root, "memory.stat"), "inactive_file") ?? 0),
            number(find(root, "memory.max")),
            field(find(root, "memory.events"), "oom_kill"),
        ),
    };
}

function ofV1(find: Find): Own | undefined {
    const of = (controller: string, file: string) => find(`${root}/${controller}`, file);
    const used = number(of("cpuacct", "cpuacct.usage"));
    const bytes = number(of("memory", "memory.usage_in_bytes"));
    if (used === undefined || bytes === undefined) return undefined;
    const [quota, period] = [number(of("cpu", "cpu.cfs_quota_us")), number(of("cpu", "cpu.cfs_period_us"))];
    const cpu = of("cpu", "cpu.stat");
    return {
        version: 1,
        cpu: {
            used: used / 1e9,
            ...(quota !== undefined && period !== undefined && { limit: quota / period }),
            periods: field(cpu, "nr_periods") ?? 0,
            throttled: field(cpu, "nr_throttled") ?? 0,
        },
        memory: memoryOf(
            bytes - (field(of("memory", "memory.stat"), "total_inactive_file") ?? 0),
            number(of("memory", "memory.limit_in_bytes")),
            field(of("memory", "memory.oom_control"), "oom_kill"),
        ),
    };
}

function memoryOf(used: number, limit = Infinity, kills: number | undefined): Reading["memory"] {
    return {
        used: Math.max(0, used),
        ...(limit < endless && { limit }),
        ...(kills !== undefined && { kills }),
    };
}

/** Times of `/proc/stat` are in hundredths of a second. */
function nodeOf(files: Files): Reading["node"] {
    const stat = files.get("/proc/stat") ?? "";
    const [user, nice, system, idle, wait, ...others] = (/^cpu +(.*)$/m.exec(stat)?.[1] ?? "").split(" ").map(Number);
    const available = field(files.get("/proc/meminfo"), "MemAvailable");
    const memory = available === undefined ? {} : { available: available * 1_024 };
    if (user === undefined || wait === undefined) return memory;
    // Guests are a part of what is in the first ones.
    const busy = user + nice! + system! + others.slice(0, 3).reduce((sum, one) => sum + one, 0);
    const listed = stat.match(/^cpu\d+ /gm)?.length;
    // The first line is of all. If the others are of a core each, not all may be there.
    const cores = listed === mostLines - 1 ? coresIn(files.get("/sys/devices/system/cpu/online")) : listed;
    return { cores, time: (busy + idle! + wait) / 100, busy: busy / 100, ...memory };
}

/** How many cores a list has, such as `0-3,5`. */
function coresIn(list: string | undefined): number | undefined {
    if (list === undefined) return undefined;
    const ranges = [...list.matchAll(/(\d+)(?:-(\d+))?/g)];
    return ranges.reduce((sum, [, from, to = from]) => sum + Number(to) - Number(from) + 1, 0);
}

/** What the program itself uses. Its shell says it of one process twice, also as `self`. */
function programOf(files: Files): Pick<Reading, "own"> {
    const ticks = new Map<string, number>();
    let bytes = 0;
    for (const [path, text] of files) {
        // A name in parentheses may have any characters.
        const [, pid, fields] = (/^\/proc\/[^/]+\/stat$/.test(path) && /^(\d+) .*\) (.*)/.exec(text)) || [];
        const [user, system] = fields?.split(" ").slice(11, 13).map(Number) ?? [];
        if (system !== undefined) ticks.set(pid!, user! + system);
        bytes = Math.max(bytes, 1_024 * (field(text, "VmRSS") ?? 0));
    }
    const cpu = [...ticks.values()].reduce((sum, one) => sum + one, 0) / 100;
    return ticks.size === 0 ? {} : { own: { cpu, bytes } };
}

/** What a container used between two readings. */
export interface Rate {
    /** In how many seconds. */
    seconds: number;
    /** How many cores the container used. */
    cores: number;
    /** How many of these the program of the attack used. Absent if it does not say. */
    own?: number;
    /** In which share of the periods of its limit it had to wait, 0 to 1. 0 without a limit. */
    throttled: number;
    /** Which share of the node's cores was busy, 0 to 1. Absent if that is not known. */
    nodeBusy?: number;
}

/** What happened between two readings of a container. With one moment for both, the rates are 0. */
export function rateBetween(before: Reading, now: Reading): Rate {
    const seconds = now.at - before.at;
    const share = (part: number, all: number) => (all > 0 ? part / all : 0);
    const time = (now.node.time ?? NaN) - (before.node.time ?? NaN);
    return {
        seconds,
        cores: share(now.cpu.used - before.cpu.used, seconds),
        ...(now.own && { own: share(now.own.cpu - (before.own?.cpu ?? 0), seconds) }),
        throttled: share(now.cpu.throttled - before.cpu.throttled, now.cpu.periods - before.cpu.periods),
        ...(time > 0 && { nodeBusy: (now.node.busy! - before.node.busy!) / time }),
    };
}

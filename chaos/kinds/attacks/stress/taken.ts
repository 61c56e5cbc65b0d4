/** What a stress takes in one container, and why it may not: decided from readings of its cgroup. */
import { amountOf, describeBytes, describeCores, leastCores, parseCpu, parseMemory } from "./amounts";
import type { Tool } from "./stress-programs";
import type { Rate, Reading } from "./readings";

/** What an attack asks for, as a definition says it. */
export interface Wanted {
    cpu?: string;
    memory?: string;
    untilKilled?: boolean;
}

/** What an attack says of its containers. */
export interface StressArgs extends Wanted {
    neighbours?: "accept" | "refuse";
}

/** What is taken, with the default. */
export const wantedOf = ({ cpu, memory, untilKilled }: Wanted): Wanted => ({
    ...((cpu !== undefined || memory === undefined) && { cpu: cpu ?? "100%" }),
    ...(memory !== undefined && { memory }),
    ...(untilKilled && { untilKilled }),
});

/** The same for one container. */
export interface Taken {
    /** Absent if no CPU is to be used. */
    cores?: number;
    /** Absent if no memory is to be held. */
    bytes?: number;
    untilKilled?: boolean;
}

/** @throws Error if a share is asked for of a limit that the container does not have: `whyUnfit` says so before */
export function takenOf({ cpu, memory, untilKilled }: Wanted, { cpu: { limit }, memory: its }: Reading): Taken {
    const cores = cpu === undefined ? undefined : amountOf(parseCpu(cpu)!, limit);
    const bytes = memory === undefined ? undefined : amountOf(parseMemory(memory)!, its.limit);
    if ((cpu !== undefined && cores === undefined) || (memory !== undefined && bytes === undefined))
        throw new Error("the container has no limit any more");
    return {
        ...(cores !== undefined && { cores }),
        // A program holds whole ones.
        ...(bytes !== undefined && { bytes: Math.floor(bytes / megabyte) * megabyte }),
        ...(untilKilled && { untilKilled }),
    };
}

/**
 * How many processes burn, and what each takes of a core, in thousandths. They may want more than the container's
 * limit, since that has it throttled, but no more than its node can run.
 */
export function workersFor({ cores: asked = 0 }: Taken, { node }: Reading): { workers: number; permille: number } {
    const cores = Math.min(asked, node.cores ?? Infinity);
    const workers = Math.ceil(cores);
    return { workers, permille: workers === 0 ? 0 : Math.max(1, Math.round((cores / workers) * 1_000)) };
}

/** What somebody has changed of the limits by which an attack was admitted. Undefined if nothing. */
export function whyChanged({ cpu, memory }: Wanted, before: Reading, now: Reading): string | undefined {
    const told = (name: string, [from, to]: (number | undefined)[], describe: (some: number) => string) => {
        const [was, is] = [from, to].map((limit) => (limit === undefined ? "none" : describe(limit)));
        return from === to ? undefined : `its ${name} limit was changed from ${was} to ${is}`;
    };
    return (
        (cpu && told("CPU", [before.cpu.limit, now.cpu.limit], describeCores)) ??
        (memory && told("memory", [before.memory.limit, now.memory.limit], describeBytes))
    );
}

/** A scheduler, and the beginning of a process, take a part. */
const enough = 0.8;

/** In a full container, the program has its part if it uses so much of what is wanted. */
const part = 0.1;

/** How many cores the container can use: no more than its limit, and its node, have. */
const mostOf = ({ cpu: { limit = Infinity }, node }: Reading): number => Math.min(limit, node.cores ?? Infinity);

/** How much of the container's memory is left to its application: below that, the kernel would kill. */
const reserveOf = (limit: number): number => Math.max(0.05 * limit, 8 * 2 ** 20);

/** How much of a node's memory is left to others. A kubelet evicts pods below 100 MiB by default. */
const nodeReserve = 512 * 2 ** 20;

const megabyte = 2 ** 20;
/** Steps until all is held. */
const steps = 10;
/** A second is between two steps. A shell copies no more in it, on a busy node. */
const largestStep = (tool: Tool) => (tool === "sh" ? 16 : 512) * megabyte;
/** So long may it take until all is held: a proof must come in time. */
const growSeconds = 30;

const stepOf = (bytes: number, tool: Tool) => Math.min(largestStep(tool), Math.max(megabyte, bytes / steps));

/**
 * How many bytes are to be held next, when a reading shows what is held: a step more, as long as container and node
 * have room for that; less if they have less room than before. With `untilKilled`, only the node's room counts.
 */
export function nextBytes(taken: Taken, held: number, reading: Reading, tool: Tool): number {
    const { bytes = 0 } = taken;
    const room = Math.min(roomOf(taken, reading), roomOnNode(reading));
    const next = Math.min(bytes, held + Math.min(stepOf(bytes, tool), room));
    return Math.max(0, Math.floor(next / megabyte)) * megabyte;
}

/** How many bytes more the container can hold. Negative if it uses of what is left to its application. */
const roomOf = ({ untilKilled }: Taken, { memory: { limit, used } }: Reading): number =>
    untilKilled || limit === undefined ? Infinity : limit - reserveOf(limit) - used;

/** The same for its node. */
const roomOnNode = ({ node }: Pick<Reading, "node">): number => (node.available ?? Infinity) - nodeReserve;

/** How many bytes are held in the end: with `untilKilled`, what exceeds the limit. */
function toHoldOf(taken: Taken, reading: Reading): number {
    const { limit = Infinity, used } = reading.memory;
    return Math.min(taken.bytes!, taken.untilKilled ? limit - used : roomOf(taken, reading));
}

/**
 * Whether most of what is wanted is held, or as much as the container has room for, and its cgroup shows it. With
 * `untilKilled`, only what is killed shows the attack.
 */
export function isMemoryTaken(taken: Taken, held: number, { own, ...reading }: Reading): boolean {
    if (taken.untilKilled) return false;
    const isMost = held >= enough * taken.bytes!;
    const isThere = held > 0 && Math.min(own?.bytes ?? 0, reading.memory.used) >= enough * held;
    return isThere && (isMost || roomOf(taken, reading) < megabyte);
}

/**
 * Whether the program uses most of what is wanted. If the container is full, a part is enough: the application, which
 * comes first, then uses the rest, and both are throttled.
 */
export function isCpuTaken({ cores = 0 }: Taken, rate: Rate, reading: Reading): boolean {
    const [most, own = 0] = [mostOf(reading), rate.own];
    const wanted = Math.min(cores, most);
    return own >= (rate.cores >= enough * most ? part : enough) * wanted;
}

/** What each tool needs itself, and for each process or thread that burns, in MiB. Measured, and rounded up. */
const needs: Record<Tool, { own: number; worker: number }> = {
    perl: { own: 4, worker: 0.5 },
    python3: { own: 8, worker: 1 },
    sh: { own: 2, worker: 0.5 },
    node: { own: 16, worker: 8 },
    "/nodejs/bin/node": { own: 16, worker: 8 },
};

function needOf(taken: Taken, now: Reading, tool: Tool): number {
    const { own, worker } = needs[tool];
    return (own + worker * workersFor(taken, now).workers) * megabyte;
}

function whyNoProgram(taken: Taken, now: Reading, tool: Tool): Unfit | undefined {
    const { used, limit = Infinity } = now.memory;
    const need = needOf(taken, now, tool);
    if (limit - used >= need) return undefined;
    const { workers } = workersFor(taken, now);
    const forCores = workers === 0 ? "" : ` for ${describeCores(workers)}`;
    return {
        what:
            `uses ${describeBytes(used)} of ${describeBytes(limit)}, and ` +
            `${tool} needs ${describeBytes(need)}${forCores}`,
        advice: `Raise its memory limit, or ${workers > 1 ? "take less CPU" : "choose another container"}`,
    };
}

interface Unfit {
    what: string;
    advice: string;
}

/** Why a stress would not be measurable in a container, or would harm other pods. Undefined if neither. */
export function whyUnfit({ neighbours, ...asked }: StressArgs, before: Rate, now: Reading, tool: Tool) {
    const wanted = wantedOf(asked);
    const unlimited = whyUnlimited(wanted, neighbours, now);
    if (unlimited) return unlimited;
    const taken = takenOf(wanted, now);
    const unfit = whyTooLittle(wanted, taken, now) ?? whyUnseen(taken, before, now) ?? whyNoProgram(taken, now, tool);
    return unfit ?? (taken.bytes === undefined ? undefined : whyNoRoom(taken, now, tool));
}

function whyUnlimited(wanted: Wanted, neighbours: StressArgs["neighbours"], { cpu, memory, node }: Reading) {
    const { cores = Infinity } = node;
    const unlimited: { field: "cpu" | "memory"; has: string }[] = [];
    if (wanted.cpu !== undefined && cpu.limit === undefined) unlimited.push({ field: "cpu", has: "has no CPU limit" });
    else if (wanted.cpu !== undefined && Math.min(amountOf(parseCpu(wanted.cpu)!, cpu.limit)!, cpu.limit!) >= cores) {
        const has = `has a CPU limit of ${describeCores(cpu.limit!)} on a node with ${describeCores(cores)}`;
        unlimited.push({ field: "cpu", has });
    }
    if (wanted.memory !== undefined && memory.limit === undefined)
        unlimited.push({ field: "memory", has: "has no memory limit" });
    for (const { field, has } of unlimited) {
        const setLimit = `Set resources.limits.${field} of the container`;
        const text = wanted[field]!;
        const isNone = has.startsWith("has no");
        if (isNone && text.endsWith("%"))
            return { what: `${has}, of which ${field} "${text}" is a share`, advice: setLimit };
        if (field === "memory" && wanted.untilKilled)
            return { what: `${has}, so its node would run out of memory first`, advice: setLimit };
        if (neighbours !== "accept")
            return {
                what: `${has}, so other pods of its node ${isNone ? "may" : "would"} suffer`,
                advice: `${isNone ? setLimit : `Lower resources.limits.${field} of the container`}, or ${acceptThat}`,
            };
    }
    return undefined;
}

const acceptThat = 'accept that: neighbours: "accept"';

function whyTooLittle(wanted: Wanted, { cores, bytes }: Taken, { cpu, memory }: Reading): Unfit | undefined {
    if (cores !== undefined && cores < leastCores) {
        const has = `has a CPU limit of ${describeCores(cpu.limit!)}`;
        const what = `${has}, of which cpu "${wanted.cpu}" is less than ${describeCores(leastCores)}`;
        return { what, advice: "Take more CPU" };
    }
    if (bytes !== undefined && bytes < megabyte) {
        const has = `has a memory limit of ${describeBytes(memory.limit!)}`;
        const what = `${has}, of which memory "${wanted.memory}" is less than ${describeBytes(megabyte)}`;
        return { what, advice: "Take more memory" };
    }
    return undefined;
}

function whyUnseen(taken: Taken, before: Rate, now: Reading): Unfit | undefined {
    const most = mostOf(now);
    if (taken.cores === undefined || before.cores < enough * most) return undefined;
    return {
        what: `already uses ${describeCores(before.cores)} of ${describeCores(most)}, so the attack would not show`,
        advice: "Choose another container, or raise its CPU limit",
    };
}

function whyNoRoom(taken: Taken, now: Reading, tool: Tool): Unfit | undefined {
    const { used, limit } = now.memory;
    if (taken.untilKilled && used + taken.bytes! <= limit!)
        return {
            what:
                `uses ${describeBytes(used)} of ${describeBytes(limit!)}, so with ${describeBytes(taken.bytes!)} ` +
                "more nothing would be killed",
            advice: 'Take more, such as memory: "100%"',
        };
    const toHold = toHoldOf(taken, now);
    if (
        toHold < megabyte ||
        roomOf(taken, now) - needOf(taken, now, tool) < megabyte ||
        roomOnNode(now) < enough * toHold
    ) {
        const ofLimit = limit === undefined ? "" : ` of ${describeBytes(limit)}`;
        const ofNode =
            now.node.available === undefined ? "" : `, and its node has ${describeBytes(now.node.available)}`;
        return {
            what: `has no room for the attack: it uses ${describeBytes(used)}${ofLimit}${ofNode}`,
            advice: "Raise its memory limit, or leave out `memory`",
        };
    }
    const most = largestStep(tool) * growSeconds;
    if (toHold <= most) return undefined;
    return {
        what:
            `has ${tool}, which takes ${describeBytes(most)} of memory in ${growSeconds} s, and the attack asks for ` +
            describeBytes(toHold),
        advice: tool === "sh" ? "Take less, or choose a container with perl, python3 or node" : "Take less",
    };
}

/** A container that an attack is to stress, as it is before. */
interface Stressed {
    attack: StressArgs;
    before: Reading;
}

/** Why stresses of all targets on one node would harm others there, or would not fit. Undefined if neither. */
export function whyUnfitTogether(stressed: readonly Stressed[]): Unfit | undefined {
    const on = stressed.map(({ before }) => before);
    const each = stressed.map(({ attack, before }) => takenOf(wantedOf(attack), before));
    const sum = (some: readonly number[]) => some.reduce((all, one) => all + one, 0);
    const cores = sum(each.map((taken, index) => Math.min(taken.cores ?? 0, on[index]!.cpu.limit ?? Infinity)));
    const has = Math.min(...on.map(({ node }) => node.cores ?? Infinity));
    if (cores >= has && stressed.some(({ attack }) => attack.neighbours !== "accept"))
        return {
            what: `would use ${describeCores(cores)} of its ${has}, so other pods of the node would suffer`,
            advice: `Take less CPU, choose fewer targets, or ${acceptThat}`,
        };
    const bytes = sum(each.map((taken, index) => (taken.bytes === undefined ? 0 : toHoldOf(taken, on[index]!))));
    const { node } = on.at(-1)!;
    if (bytes === 0 || roomOnNode({ node }) >= enough * bytes) return undefined;
    return {
        what:
            `would hold ${describeBytes(bytes)}, and the node has ${describeBytes(node.available!)}, of which ` +
            `${describeBytes(nodeReserve)} are left to it`,
        advice: "Take less memory, or choose fewer targets",
    };
}

/** StressChaos: https://github.com/chaos-mesh/chaos-mesh/blob/master/api/v1alpha1/stresschaos_types.go */
import type { Fields } from "../fields";
import type { Read } from "./reader";

export function readStressChaos(spec: Fields): Read {
    if (spec.has("stressngStressors"))
        spec.refuse("are arguments of stress-ng; write the load at stressors", "stressngStressors");
    const stressors = spec.object("stressors");
    if (!stressors.has("cpu") && !stressors.has("memory"))
        spec.refuse("has neither cpu nor memory, so nothing is loaded", "stressors");
    const cpu = stressors.has("cpu") ? coresOf(stressors.object("cpu")) : undefined;
    const memory = stressors.has("memory") ? bytesOf(stressors.object("memory")) : undefined;
    stressors.refuseRest();
    spec.note("a container without a limit is refused here, unless you add neighbours: accept", "stressors");
    if (!spec.has("containerNames"))
        spec.note(
            "is missing, so Chaos Mesh loads the first container of each pod; here all that match",
            "containerNames",
        );
    return { attack: { kind: "stress", cpu, memory }, containers: spec.texts("containerNames") };
}

/** Each worker takes its share of a core. */
function coresOf(cpu: Fields): string | undefined {
    const workers = cpu.number("workers", { least: 1, most: 1_024 });
    if (!cpu.has("workers")) cpu.refuse("is missing", "workers");
    const load = cpu.number("load", { least: 1, most: 100 });
    const last = optionsIn(cpu);
    cpu.refuseRest();
    return workers === undefined
        ? undefined
        : `${Math.round((last.workers ?? workers) * (last.load ?? load ?? 100) * 10)}m`;
}

const options: Readonly<Record<string, "workers" | "load" | "seconds">> = {
    "--cpu": "workers",
    "-c": "workers",
    "--cpu-load": "load",
    "-l": "load",
    "--timeout": "seconds",
    "-t": "seconds",
};

/** Arguments of stress-ng after those of the other fields: the last one of a kind counts. */
function optionsIn(cpu: Fields): { workers?: number; load?: number } {
    const words = cpu.texts("options").flatMap((option) => option.trim().split(/[\s=]+/));
    const found: { workers?: number; load?: number; seconds?: number } = {};
    for (let index = 0; index < words.length; index += 2) {
        const [name, value] = [options[words[index]!], Number(/^(\d+)s?$/.exec(words[index + 1] ?? "")?.[1])];
        if (name && value > 0) found[name] = value;
        else cpu.refuse("are arguments of stress-ng; have a counterpart: --cpu, --cpu-load and --timeout", "options");
    }
    if (found.seconds)
        cpu.note(`end the load after ${found.seconds} s there; here it lasts as long as the attack`, "options");
    return found;
}

/** As https://github.com/chaos-mesh/memStress reads them: units by 1,000, unless they have an i. */
const form = /^(\d+(?:\.\d+)?) ?([KMGT]?)(i?)B?$/i;

/** All workers together take the size. */
function bytesOf(memory: Fields): string | undefined {
    if (!memory.has("size")) memory.refuse("is missing: write how much is taken", "size");
    const size = memory.text("size");
    if (memory.has("options")) memory.refuse("are arguments of stress-ng, and have no counterpart", "options");
    memory.number("workers", { least: 1, most: 8_192 });
    if (memory.has("time")) memory.note("is in which the memory grows there; here it grows in steps", "time");
    if (memory.has("oomScoreAdj")) memory.note("the load is always the first that the kernel kills", "oomScoreAdj");
    memory.refuseRest();
    const isShare = size?.endsWith("%") ?? false;
    if (isShare) memory.note("is of the node's memory there, and of the container's limit here", "size");
    memory.note(
        "stays short of the container's limit here, beyond which it is killed there, unless you add untilKilled: true",
        "size",
    );
    return isShare ? size : amountOf(size, memory);
}

function amountOf(size: string | undefined, memory: Fields): string | undefined {
    const [, number, unit = "", binary] = form.exec(size ?? "") ?? [];
    const base = binary ? 1_024 : 1_000;
    const bytes = Number(number) * base ** " KMGT".indexOf(unit.toUpperCase() || " ");
    const power = [3, 2].find((one) => bytes % base ** one === 0) ?? 1;
    if (bytes >= 1_024 ** 2) return `${bytes / base ** power}${binary ? "KMG"[power - 1] + "i" : "kMG"[power - 1]}`;
    if (size !== undefined)
        memory.refuse("is neither an amount from 1MiB, such as 256MB or 1GiB, nor a percentage", "size");
    return undefined;
}

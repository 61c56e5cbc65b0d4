import * as z from "zod";
import { resources, rightsIn, toRunInPods } from "../../../cluster/resources";
import { notAllowed } from "../../../values/texts";
import type { AttackKind } from "../attack-kind";
import { allowedCpu, allowedMemory, describeCores, parseCpu, parseMemory } from "./amounts";
import { wantedOf } from "./taken";
import { namesOf, type Stress, type StressTarget } from "./stress-target";
import { refuseOnOneNode, tryStress } from "./try-out";

/**
 * Takes CPU or memory in the targets' containers. A program runs in each, with a tool that the container has: perl,
 * Python, a POSIX shell or Node.js.
 */
export interface StressAttack {
    kind: "stress";
    /**
     * What the program takes: cores, such as `2` or `500m`, or a share of the container's CPU limit.
     * @default `"100%"`; nothing if `memory` is set
     */
    cpu?: string;
    /** What it takes: bytes, such as `200Mi`, or a share of the container's memory limit. @default nothing */
    memory?: string;
    /** Whether it takes `memory` beyond the container's limit, too, until something is killed. @default false */
    untilKilled?: boolean;
    /**
     * Whether other pods of a node may suffer, as from targets without a limit, or that take all of its cores.
     * `refuse`: such a run is `ABORTED` before the attack. @default "refuse"
     */
    neighbours?: "accept" | "refuse";
}

const amount = (parse: (text: string) => unknown, allowed: string) => {
    const error = notAllowed(allowed);
    return z.string({ error }).refine((text) => parse(text) !== undefined, { error });
};

function describe(attack: StressAttack): string {
    const { cpu, memory } = wantedOf(attack);
    const cores = cpu && parseCpu(cpu);
    const parts = [
        cores && ("of" in cores ? describeCores(cores.of) : `${cpu} of the CPU limit`),
        memory && `${memory} of ${memory.endsWith("%") ? "the memory limit" : "memory"}`,
    ];
    return `under load: a program in it takes ${parts.filter(Boolean).join(" and ")}`;
}

/**
 * The deadline Job starts the programs, and renews them: the attack ends with it, and it ends the attack at the
 * deadline and with the lease. What shows is what the containers' own cgroups say.
 */
export const stress: AttackKind<StressAttack, undefined, StressTarget[]> = {
    schema: z.strictObject({
        kind: z.literal("stress"),
        cpu: amount(parseCpu, allowedCpu).optional(),
        memory: amount(parseMemory, allowedMemory).optional(),
        untilKilled: z.boolean().optional(),
        neighbours: z.enum(["accept", "refuse"]).optional(),
    }),
    examples: [{ kind: "stress", cpu: "80%" }],
    mistake: ({ memory, untilKilled }) =>
        untilKilled && memory === undefined
            ? {
                  field: "untilKilled",
                  message: "needs memory, which is what exceeds the limit; set it, or leave this out",
              }
            : undefined,
    describe,
    effect: "under load",
    sparesOthers: true,
    proof: ({ untilKilled }) => (untilKilled ? { outOfMemory: true } : {}),
    // This ConfigMap is a request to the Job.
    object: resources.configMap,
    leavesTraffic: true,
    rights: (namespace) =>
        rightsIn(namespace)(...toRunInPods).to("try in the targets whether a `stress` can load them"),
    rightsInJob: () => rightsIn()(...toRunInPods).to("load the targets of a `stress`, and end that"),
    tryOut: tryStress,
    refuseTogether: refuseOnOneNode,
    // The memory grows in steps.
    readyMs: 30_000,
    forJob: (attack, { deadlineMs }): Stress => ({ ...wantedOf(attack), lastSeconds: Math.ceil(deadlineMs / 1_000) }),
    reported: ({ attack, chosen }) => ({
        hit: chosen.targets.flatMap((target) => Object.values(namesOf(wantedOf(attack), target))),
        spared: [],
        passed: [],
        missing: "was below what the attack asks for",
    }),
};

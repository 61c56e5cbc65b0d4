/** What the run finds in the targets of a stress before it, and tells the deadline Job. */
import type { Target } from "../../../targets/containers";
import type { Wanted } from "./taken";
import type { Tool } from "./stress-programs";
import type { Reading } from "./readings";

/** What the Job is told when it starts: the targets are not known yet. */
export interface Stress extends Wanted {
    /** No program lasts longer. */
    lastSeconds: number;
}

/** A container that is to be stressed. */
export interface StressTarget extends Pick<Target, "pod" | "uid" | "container" | "containerId"> {
    tool: Tool;
    /** The files that say what it uses. */
    files: readonly string[];
    /** Two readings before the attack, from one to the other. */
    first: Reading;
    before: Reading;
}

/** What the Job's reports call what must show. */
export const namesOf = ({ cpu, memory }: Wanted, { pod, container }: Pick<Target, "pod" | "container">) => ({
    ...(cpu !== undefined && { cpu: `the CPU load in ${pod}/${container}` }),
    ...(memory !== undefined && { memory: `the memory load in ${pod}/${container}` }),
});

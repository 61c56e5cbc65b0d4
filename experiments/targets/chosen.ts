import { endpoint } from "../deadline/report";
import type { Target } from "./discover";

/** What the targets step prints: whom the attack is for. */
export interface ChosenTargets {
    /** How many containers matched. */
    matching: number;
    targets: Target[];
}

/** The chosen pods' names, comma-separated. */
export function podsOf({ targets }: ChosenTargets): string {
    return targets.map(({ pod }) => pod).join(",");
}

/** Every TCP port of every target, as the witness reports on it. */
export function endpointsOf(targets: readonly Target[]): string[] {
    return targets.flatMap(({ address, ports }) => ports.map((port) => endpoint(address, port)));
}

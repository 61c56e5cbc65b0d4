import type { Target } from "../../shared/containers";
import { endpoint } from "../deadline/report";

/** What the targets step prints: whom the attack is for. */
export interface ChosenTargets {
    /** How many containers matched. */
    matching: number;
    targets: Target[];
    /** Why the attack cannot be proven, known before it began; absent where it can. */
    doubt?: string;
}

/** The chosen pods' names, comma-separated. */
export function podsOf({ targets }: ChosenTargets): string {
    return targets.map(({ pod }) => pod).join(",");
}

/** Every TCP port of every target, or only some ports, as the witness reports on them. */
export function endpointsOf(targets: readonly Target[], only?: readonly number[]): string[] {
    return targets.flatMap(({ address, ports }) => ports.filter((port) => only?.includes(port) ?? true).map((port) => endpoint(address, port)));
}

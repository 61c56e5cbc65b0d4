import type { Target } from "./discover";

/** What the targets step prints: whom the attack is for. */
export interface ChosenTargets {
    /** How many containers matched. */
    matching: number;
    targets: Target[];
}

/** `address:port` of every port of every target, comma-separated. */
export function endpointsOf({ targets }: ChosenTargets): string {
    return targets.flatMap(({ address, ports }) => ports.map((port) => `${address.includes(":") ? `[${address}]` : address}:${port}`)).join(",");
}

import type { Target } from "../../shared/containers";
import { endpoint } from "../deadline/report";
import type { Control } from "../proof";

/** What the targets step prints: whom the attacks are for. */
export interface ChosenTargets {
    /** In the order of the plan's attacks. */
    attacks: Chosen[];
    /** What came of trying, before the attacks, what is to fail under them. */
    control: Control;
}

/** Whom one attack is for. */
export interface Chosen {
    /** How many containers matched. */
    matching: number;
    targets: Target[];
    /** Those from whom it cuts them off; absent where that is everybody. */
    peers?: Target[];
}

/** The chosen pods' names, comma-separated. */
export function podsOf({ targets }: Chosen): string {
    return targets.map(({ pod }) => pod).join(",");
}

/** Every TCP port of every target, or only some ports, as the witness reports on them. */
export function endpointsOf(targets: readonly Target[], only?: readonly number[]): string[] {
    return targets.flatMap(({ address, ports }) =>
        ports.filter((port) => only?.includes(port) ?? true).map((port) => endpoint(address, port)),
    );
}

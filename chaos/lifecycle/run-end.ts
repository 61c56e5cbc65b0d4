import type { V1Lease } from "@kubernetes/client-node";
import { annotations } from "../cluster/labels";

/** A run whose attacks were ended before its resources were deleted. Kept in its lease's annotation, as JSON. */
export interface RunEnd {
    /** When the attacks had ended, in milliseconds since the epoch. */
    at: number;
    /** From then until every check was steady, in milliseconds. Absent if that was not seen. */
    recoveredAfterMs?: number;
}

/** How the run that holds a lease was ended. Undefined if it was not. */
export function earlyEndOf({ metadata }: V1Lease): RunEnd | undefined {
    const noted = metadata?.annotations?.[annotations.ended];
    return noted === undefined ? undefined : (JSON.parse(noted) as RunEnd);
}

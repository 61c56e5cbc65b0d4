import { describeMilliseconds } from "../../shared/duration";
import type { AttackKind } from "./attack";

/** Deletes pods again and again, as `kubectl delete pod` does; whatever made them makes others. */
export interface KillAttack {
    kind: "kill";
    /** Between kills, in milliseconds; longer where the radius is used up. @default 10 s */
    intervalMs?: number;
}

const defaultIntervalMs = 10_000;

/**
 * The deadline's Job does it, so that it goes on and ends by itself whatever becomes of the machine that began it. At
 * no moment are more pods away, or not serving again yet, than the radius allows.
 */
export const kill: AttackKind<KillAttack> = {
    describe: ({ intervalMs = defaultIntervalMs }) =>
        `deleted, and whoever takes their place every ${describeMilliseconds(intervalMs)}`,
    killing: ({ intervalMs = defaultIntervalMs }) => ({ intervalMs }),
    proof: () => ({ deleted: true }),
};

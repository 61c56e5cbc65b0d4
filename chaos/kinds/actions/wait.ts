import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { describeMilliseconds } from "../../values/duration";
import type { ActionKind } from "./action-kind";

/** Waits before the next action. */
export interface WaitAction {
    kind: "wait";
    /** Milliseconds, at most 3 600 000. */
    durationMs: number;
}

export const wait: ActionKind<WaitAction> = {
    schema: z.strictObject({ kind: z.literal("wait"), durationMs: z.int().positive().max(3_600_000) }),
    examples: [{ kind: "wait", durationMs: 1_000 }],
    describe: ({ durationMs }) => `wait ${describeMilliseconds(durationMs)}`,
    rights: () => [],
    perform: ({ durationMs }, { signal }) => sleep(durationMs, undefined, { signal }),
};

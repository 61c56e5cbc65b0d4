import { setTimeout as sleep } from "node:timers/promises";
import { describeMilliseconds } from "../../shared/duration";
import type { ActionKind } from "./action";

/** Lets time go by before the next action. */
export interface WaitAction {
    kind: "wait";
    durationMs: number;
}

export const wait: ActionKind<WaitAction> = {
    describe: ({ durationMs }) => `wait ${describeMilliseconds(durationMs)}`,
    act: ({ durationMs }) => sleep(durationMs),
};

import type { Result } from "../../../test/trials/results";

/** A right result, with some changes. */
export function resultOf(changes: Partial<Result> = {}): Result {
    return {
        seed: "1",
        commit: "84e68c1",
        kind: "one-replica",
        network: "kube-router",
        nodes: 1,
        denied: "drop",
        round: 1,
        outcome: "FAILED",
        reason: "0% of 16 requests to /products succeeded",
        saw: "",
        problems: [],
        leftovers: [],
        expected: "FAILED",
        seconds: 17,
        at: "2026-11-23T12:00:00.000Z",
        ...changes,
    };
}

import { experimentRounds } from "../experimentRounds";
import type { Figure } from "../figure";
import type { Session } from "../session";

export function recovery(session: Session): Figure {
    return {
        name: "recovery",
        meaning: "the longest time from the policy's deletion to /products being good for good",
        bar: 2,
        unit: "s",
        async measure() {
            const samples = (await experimentRounds(session)).map((round) => round.recovery);
            return {
                value: Math.max(...samples),
                made: `in each round ${samples.map((sample) => sample.toFixed(2)).join(", ")} s`,
                samples: { recovery: samples },
            };
        },
    };
}

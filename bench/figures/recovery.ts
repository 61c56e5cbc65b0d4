import { experimentRounds } from "../experiment-rounds";
import type { Figure } from "../figure";

export const recovery: Figure = {
    name: "recovery",
    meaning: "longest time from the policy's deletion until /products stays good",
    bar: 2,
    unit: "s",
    async measure(session) {
        const { recovery: samples } = await experimentRounds(session);
        return {
            value: Math.max(...samples),
            made: `in each round ${samples.map((sample) => sample.toFixed(2)).join(", ")} s`,
            samples: { recovery: samples },
        };
    },
};

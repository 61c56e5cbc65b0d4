import { experimentRounds } from "../experimentRounds";
import { describeSamples, type Figure, median } from "../figure";
import { type Session, windowSeconds } from "../session";

export function experimentEnable(session: Session): Figure {
    return {
        name: "experiment-enable",
        meaning: `what pulumi up takes to enable the experiment, its check's window of ${windowSeconds} s aside, beyond kubectl apply of just the policy`,
        bar: 5,
        unit: "s",
        async measure() {
            const rounds = await experimentRounds(session);
            const enable = rounds.map((round) => round.enable);
            const kubectl = rounds.map((round) => round.kubectl);
            return {
                value: median(enable) - median(kubectl),
                made: `pulumi ${describeSamples(enable)}, kubectl ${describeSamples(kubectl)}`,
                samples: { pulumi: enable, kubectl },
            };
        },
    };
}

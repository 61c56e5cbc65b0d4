import { experimentRounds } from "../experimentRounds";
import { describeSamples, type Figure, median } from "../figure";
import { type Session, window } from "../session";

export function experimentRun(session: Session): Figure {
    return {
        name: "experiment-run",
        meaning: `what both updates of a whole run take, the one that enables and the one that disables and waits for recovery, its check's window of ${window.durationSeconds + window.graceSeconds} s aside`,
        bar: 10,
        unit: "s",
        async measure() {
            const rounds = await experimentRounds(session);
            const enable = rounds.map((round) => round.enable);
            const disable = rounds.map((round) => round.disable);
            return {
                value: median(rounds.map((round) => round.enable + round.disable)),
                made: `enabling ${describeSamples(enable)}, disabling ${describeSamples(disable)}`,
                samples: { enable, disable },
            };
        },
    };
}

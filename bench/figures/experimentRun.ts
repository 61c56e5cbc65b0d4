import type { BorrowedStack } from "../../cli/stack";
import type { Conclusion } from "../../experiments/journal";
import { discardFailedRun } from "../experimentRounds";
import { describeSamples, type Figure, median } from "../figure";
import { type Session, windowSeconds } from "../session";
import { timed } from "../time";

const rounds = 5;

export function experimentRun(session: Session): Figure {
    return {
        name: "experiment-run",
        meaning: `what both updates of npm run experiment take, the one that enables and the one that disables and waits for recovery, its check's window of ${windowSeconds} s aside`,
        bar: 10,
        unit: "s",
        async measure() {
            const shop = await session.borrowedShop();
            const enable: number[] = [];
            const disable: number[] = [];
            try {
                for (let round = 1; round <= rounds; round++) {
                    enable.push((await update(shop, "true")) - windowSeconds);
                    discardFailedRun((await shop.outputs()).experiment!.value as Conclusion);
                    disable.push(await update(shop, "false"));
                    session.say(`round ${round} of ${rounds}: enabled in ${enable.at(-1)!.toFixed(1)} s, disabled in ${disable.at(-1)!.toFixed(1)} s`);
                }
            } finally {
                shop.close();
            }
            return {
                value: median(enable.map((seconds, round) => seconds + disable[round]!)),
                made: `enabling ${describeSamples(enable)}, disabling ${describeSamples(disable)}`,
                samples: { enable, disable },
            };
        },
    };
}

async function update(shop: BorrowedStack, enabled: "true" | "false"): Promise<number> {
    shop.set({ "experiment.enabled": enabled });
    return timed(() => shop.up(() => undefined));
}

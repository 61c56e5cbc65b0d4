import { describeSamples, type Figure, ratio } from "../figure";
import type { Session } from "../session";

const rounds = 5;

export function previewUnchanged(session: Session): Figure {
    return {
        name: "preview-unchanged",
        meaning: "an unchanged pulumi preview of the shop, against that of an empty program",
        bar: 3,
        unit: "ratio",
        async measure() {
            const shop = await session.runningShop();
            const empty = await session.emptyStack();
            const ours: number[] = [];
            const theirs: number[] = [];
            // The first reads what later ones find in the page cache.
            await shop.previewUnchanged();
            for (let round = 1; round <= rounds; round++) {
                ours.push(await shop.previewUnchanged());
                theirs.push(await empty.previewUnchanged());
                session.say(
                    `round ${round} of ${rounds}: shop ${ours.at(-1)!.toFixed(2)} s, empty program ${theirs.at(-1)!.toFixed(2)} s`,
                );
            }
            return {
                value: ratio(ours, theirs),
                made: `shop ${describeSamples(ours)}, empty program ${describeSamples(theirs)}`,
                samples: { shop: ours, emptyProgram: theirs },
            };
        },
    };
}

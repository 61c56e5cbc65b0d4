import { describeSamples, type Figure, measureRounds, ratio } from "../figure";

const rounds = 5;

export const previewUnchanged: Figure = {
    name: "preview-unchanged",
    meaning: "time of an unchanged pulumi preview of the shop, compared with an empty program",
    bar: 2,
    unit: "ratio",
    async measure(session) {
        const shop = await session.runningShop();
        const empty = await session.emptyStack();
        // The first preview fills the page cache.
        await shop.previewUnchanged();
        const samples = await measureRounds(
            rounds,
            session,
            async () => ({ shop: await shop.previewUnchanged(), emptyProgram: await empty.previewUnchanged() }),
            ({ shop, emptyProgram }) => `shop ${shop.toFixed(2)} s, empty program ${emptyProgram.toFixed(2)} s`,
        );
        return {
            value: ratio(samples.shop, samples.emptyProgram),
            made: `shop ${describeSamples(samples.shop)}, empty program ${describeSamples(samples.emptyProgram)}`,
            samples,
        };
    },
};

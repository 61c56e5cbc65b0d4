import { type Figure, measureRounds, ratio } from "../figure";

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
        const samples = await measureRounds(5, session, async () => ({
            shop: await shop.previewUnchanged(),
            "empty program": await empty.previewUnchanged(),
        }));
        return { value: ratio(samples.shop, samples["empty program"]), samples };
    },
};

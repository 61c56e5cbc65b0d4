import { describeSamples, type Figure, ratio } from "../figure";
import type { Session } from "../session";

const rounds = 3;
const few = 2;
const many = 20;

export function previewPerResource(session: Session): Figure {
    return {
        name: "preview-per-resource",
        meaning: `what a pulumi preview takes for each resource at ${many} shops in one program, in as many namespaces, against ${few}`,
        bar: 1.2,
        unit: "ratio",
        async measure() {
            const [fewShops, manyShops] = [await session.manyShopsStack(few), await session.manyShopsStack(many)];
            const samples: Record<"few" | "many", number[]> = { few: [], many: [] };
            const resources = { few: 0, many: 0 };
            // The first reads what later ones find in the page cache.
            await fewShops.previewNew();
            for (let round = 1; round <= rounds; round++) {
                for (const [size, stack] of [
                    ["few", fewShops],
                    ["many", manyShops],
                ] as const) {
                    const preview = await stack.previewNew();
                    samples[size].push(preview.seconds / preview.resources);
                    resources[size] = preview.resources;
                }
                const [fewMs, manyMs] = [samples.few, samples.many].map((each) => (each.at(-1)! * 1_000).toFixed(1));
                session.say(`round ${round} of ${rounds}: ${fewMs} ms at ${few} shops, ${manyMs} ms at ${many}`);
            }
            const milliseconds = (seconds: readonly number[]) =>
                describeSamples(seconds.map((each) => each * 1_000)).replaceAll(" s ", " ms ");
            return {
                value: ratio(samples.many, samples.few),
                made: `${many} shops ${milliseconds(samples.many)} for each of ${resources.many} resources, ${few} shops ${milliseconds(samples.few)} for each of ${resources.few}`,
                samples: { [`${few} shops`]: samples.few, [`${many} shops`]: samples.many },
            };
        },
    };
}

import { describeSamples, type Figure, measureRounds, ratio } from "../figure";

const rounds = 3;
const few = 2;
const many = 20;

export const previewPerResource: Figure = {
    name: "preview-per-resource",
    meaning: `time of pulumi preview per resource with ${many} shops in one program, compared with ${few} shops`,
    bar: 1.2,
    unit: "ratio",
    async measure(session) {
        const stacks = { few: await session.manyShopsStack(few), many: await session.manyShopsStack(many) };
        const resources = { few: 0, many: 0 };
        const preview = async (size: keyof typeof stacks) => {
            const made = await stacks[size].previewNew();
            resources[size] = made.resources;
            return made.seconds / made.resources;
        };
        // The first preview fills the page cache.
        await stacks.few.previewNew();
        const samples = await measureRounds(
            rounds,
            session,
            async () => ({ few: await preview("few"), many: await preview("many") }),
            (seconds) =>
                `${(seconds.few * 1_000).toFixed(1)} ms at ${few} shops, ` +
                `${(seconds.many * 1_000).toFixed(1)} ms at ${many}`,
        );
        const milliseconds = (seconds: readonly number[]) =>
            describeSamples(seconds.map((each) => each * 1_000)).replaceAll(" s ", " ms ");
        return {
            value: ratio(samples.many, samples.few),
            made:
                `${many} shops ${milliseconds(samples.many)} for each of ${resources.many} resources, ` +
                `${few} shops ${milliseconds(samples.few)} for each of ${resources.few}`,
            samples: { [`${few} shops`]: samples.few, [`${many} shops`]: samples.many },
        };
    },
};

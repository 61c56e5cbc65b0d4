import { experimentRounds } from "../experiment-rounds";
import { describeSamples, type Figure, median } from "../figure";
import { windowSeconds } from "../session";

export const experimentEnable: Figure = {
    name: "experiment-enable",
    meaning:
        `time of pulumi up to enable the experiment, without the check's window of ${windowSeconds} s, ` +
        "minus the time of kubectl apply of only the policy",
    bar: 6,
    unit: "s",
    async measure(session) {
        const { enable, kubectl } = await experimentRounds(session);
        return {
            value: median(enable) - median(kubectl),
            made: `pulumi ${describeSamples(enable)}, kubectl ${describeSamples(kubectl)}`,
            samples: { pulumi: enable, kubectl },
        };
    },
};

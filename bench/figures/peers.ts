import { type Figure, median, type Samples, type Unit } from "../figure";
import { type Measure, measurePeers } from "../peers/peers";
import type { Session } from "../session";

let measured: Promise<Samples> | undefined;
/** The figures that have used the samples. */
const shown = new Set<string>();

/** The samples that all figures share, until one is measured again. */
function samplesFor(figure: string, session: Session): Promise<Samples> {
    if (shown.has(figure)) {
        shown.clear();
        measured = undefined;
    }
    shown.add(figure);
    measured ??= measurePeers(session);
    return measured;
}

/** A figure of one measure of the runs, which all figures share; the value is that of `of`. */
function figure(name: string, measure: Measure, of: string, meaning: string, bar: number, unit: Unit = "s"): Figure {
    return {
        name: `peers-${name}`,
        meaning,
        bar,
        unit,
        async measure(session) {
            const all = Object.entries(await samplesFor(name, session)).filter(([key]) =>
                key.startsWith(`${measure} of `),
            );
            const samples = Object.fromEntries(
                all.map(([key, values]) => [key.slice(`${measure} of `.length), values]),
            );
            return { value: median(samples[of]!), samples };
        },
    };
}

export const peers = [
    figure("bite", "bite", "ours", "from the command until the attack bites, in an update without a preview", 3.5),
    figure("bite-preview", "bite", "ours with a preview", "from the command until the attack bites, with a preview", 6),
    figure("whole", "whole", "ours", "the whole command without its window", 6),
    figure("undo", "undo", "ours", "from when the policy is gone until the target answers", 0.5),
    // Pulumi's own processes take 270 MiB of it, and the program 170 MiB with Pulumi's SDK.
    figure("memory", "memory", "ours", "the memory of all processes of the command", 500, "MiB"),
];

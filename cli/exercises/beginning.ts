import { overrides } from "../../experiments/story";
import { settings } from "../../components/configuration/settings";

/** They have one pod each. */
export const workloads = ["gateway", "fashion-bestseller", "toys-bestseller", "hot-deals"];

/**
 * What settings must be for each exercise, if they are set: the defaults, and a number of pods. A stack without them
 * begins so, too.
 */
const beginning: Record<string, string> = {
    install: settings.install.default!,
    "shutdown.delay": settings["shutdown.delay"].default!,
    ...Object.fromEntries(workloads.map((workload) => [`replicas.${workload}`, "1"])),
};

/**
 * The settings that would make another exercise: they change the experiment, or what the shop begins with.
 *
 * @param set the settings of the stack's file, or those of `--set`
 */
export function disturbing(set: Record<string, string>): string[] {
    return Object.entries(set)
        .filter(([key, value]) => overrides.includes(key) || (key in beginning && beginning[key] !== value))
        .map(([key]) => key);
}

/**
 * The settings of the update that prepares an exercise. What the stack's file does not set is not set here either: to
 * the reader's own `pulumi preview`, which has only that file, it would be a change. Pods are scaled instead.
 *
 * @param given those of `--set`
 */
export const settingsToBegin = (given: Record<string, string>): Record<string, string> => ({
    ...given,
    "experiment.enabled": "false",
});

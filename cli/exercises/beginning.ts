import { overrides } from "../../experiments/story";
import { settings } from "../../components/configuration/settings";

/** They have one pod each. */
export const workloads = ["gateway", "fashion-bestseller", "toys-bestseller", "hot-deals"];

/** The settings of the shop that each exercise begins with: the defaults, and a number of pods. */
export const beginning: Record<string, string> = {
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

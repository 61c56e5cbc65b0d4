import { existsSync } from "node:fs";
import { join } from "node:path";
import { overrides, settings } from "../../components/configuration/settings";
import { pulumiCommand } from "../../components/pulumi-command";
import { mistakesInExperiment } from "../offline-configuration";
import { say, typed } from "../print";
import { Session } from "../session";
import { scale } from "../shop";
import { experimentIn, reportSession } from "../shop-report";
import { plainSettings, project } from "../stack-file";
import { endLines } from "../status";
import { Sources } from "./edits";
import { editsOf, type Exercise, filesOf } from "./page";

/** They have one pod each. */
const workloads = ["gateway", "fashion-bestseller", "toys-bestseller", "hot-deals"];

/**
 * What settings must be for each exercise, if they are set: the defaults, and a number of pods. A stack without them
 * begins so, too.
 */
const beginning = new Map(
    Object.entries({
        install: settings.install.default,
        "shutdown.delay": settings["shutdown.delay"].default,
        ...Object.fromEntries(workloads.map((workload) => [`replicas.${workload}`, "1"])),
    }),
);

/**
 * The settings that would make another exercise: they change the experiment, or what the shop begins with.
 *
 * @param set the settings of the stack's file, or those of `--set`
 */
export function disturbing(set: Record<string, string>): string[] {
    return Object.entries(set)
        .filter(([key, value]) => overrides.includes(key) || (beginning.get(key) ?? value) !== value)
        .map(([key]) => key);
}

export interface Place {
    stack: string;
    /** For the update, in addition to the stack's file. */
    settings: Record<string, string>;
}

/**
 * Puts the shop, and the files that exercises change, into the state that an exercise begins with: from any state, also
 * during an experiment of this stack, which the update ends.
 *
 * @param all the exercises, whose changes are reverted
 * @returns whether the exercise can begin. If not, why is printed
 * @throws Error with all mistakes in the stack's file and the sources, before anything is touched
 */
export async function prepare(exercise: Exercise, all: readonly Exercise[], place: Place): Promise<boolean> {
    const sources = new Sources(project);
    const edits = editsOf(all);
    const mistakes = [
        ...mistakesInStack(place.stack),
        ...(mistakesInExperiment(plainSettings(place.stack), place.settings, place.stack)?.split("\n") ?? []),
        ...sources.mistakes(edits),
    ];
    if (mistakes.length > 0) throw new Error(`Exercise ${exercise.number} cannot begin.\n${mistakes.join("\n")}`);

    for (const file of sources.revert(edits)) say(`Reverted an exercise's change of ${file}`);
    for (const { path } of filesOf(exercise).filter(({ path }) => existsSync(join(project, path))))
        say(`${path} is there already: keep it, or delete it to begin without it`);
    const session = await Session.open(place.stack);
    try {
        const moves = await session.mistakesInMove(place.settings);
        if (moves !== undefined) throw new Error(`Exercise ${exercise.number} cannot begin.\n${moves}`);
        // What the stack's file does not set is not set here either: to the reader's own `pulumi preview`, which has
        // only that file, it would be a change. Pods are scaled instead; an update keeps their number.
        await session.up({ ...place.settings, "experiment.enabled": "false" });
        const outputs = await session.outputs();
        const namespace = String(outputs.namespace?.value);
        await Promise.all(workloads.map((workload) => scale(session.cluster, namespace, workload, 1)));
        const isUp = await reportSession(session, place.stack, outputs);
        return isUp && (await isFree(session, namespace));
    } finally {
        session.close();
    }
}

function mistakesInStack(stack: string): string[] {
    return disturbing(plainSettings(stack)).map(
        (key) =>
            `Pulumi.${stack}.yaml sets ${key}, which would make another exercise; remove it: ` +
            pulumiCommand(["config", "rm", key], stack),
    );
}

/** Whether no experiment of another stack has the shop's namespace. If one has, says what ends it. */
async function isFree({ cluster }: Session, namespace: string): Promise<boolean> {
    const other = await experimentIn(cluster, namespace);
    if (other === undefined) return true;
    const holder = other.lease ? ` of ${other.lease.holder}` : "";
    say(`The experiment ${other.experiment}${holder} runs in namespace ${namespace}. End it, and prepare again:`);
    for (const line of endLines(other, { context: cluster.kubeconfig.getCurrentContext(), typed })) say(line);
    return false;
}

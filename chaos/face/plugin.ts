import * as pulumi from "@pulumi/pulumi";
import { main } from "@pulumi/pulumi/provider";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { builtPrograms, type ExperimentPrograms } from "../pods/built-programs";
import { askedOf } from "../run/asked-run";
import { UserError } from "../values/user-error";
import { Experiment, type ExperimentArgs } from "./experiment";
import { FirstActs } from "./first-acts";
import { ifKnown, ifMade } from "./stash";

/** The components of a program arrive one by one, within so long of each other, in milliseconds. */
const arrivalMs = 300;
/** Between them, a program may ask a cloud, or wait for a resource. Those that have run end their attacks so late. */
const lateMs = 30_000;

interface PluginArgs {
    /** The package's, with `schema.json`. */
    folder: string;
    /** @default as the package's build has left them */
    programs?: () => ExperimentPrograms;
}

type Values = Record<string, unknown>;
/** The arguments in the schema. Those that are not plain may be outputs. */
type Inputs = Record<string, { plain?: boolean }>;

/**
 * Serves the component to programs in Python, Go and YAML. The engine starts it once for each preview or update, and
 * asks it to construct each experiment of the program when the values that this one is given are known.
 *
 * What an update does before any experiment begins is shared by those of a program; see `FirstActs`. What differs from
 * a program in TypeScript: what an experiment waits for delays its construction, and with it the end of its attacks and
 * the report of its mistakes. See `mistakesOfWaiting`.
 */
export function servePlugin({ folder, programs = builtPrograms }: PluginArgs): Promise<void> {
    const schema = readFileSync(join(folder, "schema.json"), "utf8");
    const { version, resources } = JSON.parse(schema) as {
        version: string;
        resources: Record<string, { inputProperties: Inputs }>;
    };
    const [[type, { inputProperties }]] = Object.entries(resources) as [[string, { inputProperties: Inputs }]];
    const ofPrograms = new Map<string, FirstActs>();
    const answered = new Set<unknown>();
    const construct = async (name: string, asked: string, inputs: Values, options: pulumi.ComponentResourceOptions) => {
        if (asked !== type) throw new UserError(`there is no component ${asked}; allowed: ${type}`);
        const acts = actsOf(ofPrograms);
        const mistakes: string[] = [];
        // Internal arguments, such as `programs`, are only for programs in TypeScript.
        const known = Object.entries(inputs).filter(([key]) => {
            const isKnown = key in inputProperties;
            if (!isKnown) mistakes.push(`there is no field ${JSON.stringify(key)} here`);
            return isKnown;
        });
        const given = await plainValues(known, inputProperties);
        mistakes.push(...(await mistakesOfWaiting(name, given, options)));
        const args = { ...given, programs, inPlugin: { acts, mistakes } } as unknown as ExperimentArgs;
        const { urn, verdict, conclusion, acts: ended } = new Experiment(name, args, options);
        try {
            await Promise.all([ended, conclusion].map((one) => ifKnown<unknown>(one)));
        } catch (error) {
            if (!answered.has(error)) {
                answered.add(error);
                throw error;
            }
            throw new UserError(`${name} does not begin, because of mistakes that are reported once`);
        }
        return { urn, state: { verdict, conclusion } };
    };
    const served = main({ version, schema, construct }, process.argv.slice(2));
    return served.then(leaveAnswered);
}

/** The SDK reports what no promise handles, and fails all components with it. These errors are answers to one. */
function leaveAnswered(): void {
    const listeners = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection");
    process.on("unhandledRejection", (error, promise) => {
        if (!(error instanceof UserError)) for (const listener of listeners) listener(error, promise);
    });
}

/** Each component has a client of its own for the program's monitor. */
function actsOf(ofPrograms: Map<string, FirstActs>): FirstActs {
    const monitor = pulumi.runtime.getMonitor() as unknown as { getChannel(): { getTarget(): string } };
    const program = monitor.getChannel().getTarget();
    const acts = ofPrograms.get(program) ?? new FirstActs(() => sleep(arrivalMs), lateMs);
    ofPrograms.set(program, acts);
    return acts;
}

/** An argument that the schema does not call plain may be an output, and stays one. */
async function plainValues(given: readonly [string, unknown][], inputs: Inputs): Promise<Values> {
    const entries = given.map(
        async ([key, value]) => [key, inputs[key]!.plain ? await plainOf(value) : value] as const,
    );
    return Object.fromEntries(await Promise.all(entries));
}

/**
 * A transform of a program makes outputs of all arguments: they become plain values again. An output of a resource and
 * a secret stay one. They are mistakes, which the experiment reports with their places.
 */
async function plainOf(value: unknown): Promise<unknown> {
    if (pulumi.Output.isInstance(value)) {
        const known = await ifMade(value);
        return known.length === 0 ? value : plainOf(known[0]);
    }
    if (Array.isArray(value)) return Promise.all(value.map(plainOf));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(async ([key, inner]) => [key, await plainOf(inner)] as const);
    return Object.fromEntries(await Promise.all(entries));
}

/** Options of a resource that an update waits for before it constructs a component. */
const waiting = {
    dependsOn: ({ dependsOn }) => (dependsOn as unknown[] | undefined)?.length,
    // What a parent waits for is not known here. The stack waits for nothing.
    parent: ({ parent }, urn) => parent && !/::pulumi:pulumi:Stack::[^:]*$/.test(urn),
    deletedWith: ({ deletedWith }) => deletedWith,
} satisfies Record<string, (options: pulumi.ComponentResourceOptions, parent: string) => unknown>;

/**
 * An update constructs an experiment when all that this depends on is ready. Under an attack that may be never, so an
 * attack that stays until it is disabled must not wait for other resources. An output as `kubeconfig` is no mistake,
 * and neither is a provider: without one, a cluster of the same program could not be attacked; the documentation says
 * what that delays.
 */
export async function mistakesOfWaiting(
    name: string,
    given: Values,
    options: pulumi.ComponentResourceOptions,
): Promise<string[]> {
    const { enabled, until } = { ...given, ...askedOf(name) } as Values;
    if (enabled !== true || until !== "disabled") return [];
    const [urn = ""] = options.parent ? await ifKnown(options.parent.urn) : [];
    return Object.entries(waiting)
        .filter(([, isGiven]) => isGiven(options, urn))
        .map(
            ([option]) =>
                `until: "disabled" excludes ${option} in a program that is not in TypeScript: an update would end ` +
                `the attacks only when what it waits for is ready; allowed: without ${option}, or until: "verdict"`,
        );
}

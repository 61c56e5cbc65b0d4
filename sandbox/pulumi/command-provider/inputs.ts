import { isObject, isSecret, isUnknown, plain, type Properties, type Value } from "./values";

type Shape = "string" | "boolean" | "strings" | "strings by name" | "any list" | "logging";

/** Which of a command's streams are shown while it runs; both when it is not said. */
const loggings = ["stdout", "stderr", "stdoutAndStderr", "none"];

const processShapes: Readonly<Record<string, Shape>> = {
    stdin: "string",
    logging: "logging",
    interpreter: "strings",
    dir: "string",
    environment: "strings by name",
    assetPaths: "strings",
    archivePaths: "strings",
    addPreviousOutputInEnv: "boolean",
};

/** The inputs of the resource `command:local:Command`. */
export const commandShapes: Readonly<Record<string, Shape>> = {
    create: "string",
    update: "string",
    delete: "string",
    triggers: "any list",
    ...processShapes,
};

/** The arguments of the function `command:local:run`. */
export const runShapes: Readonly<Record<string, Shape>> = { command: "string", ...processShapes };

/** How a process is to be run; what {@link checkInputs} lets through, secrets unwrapped. */
export interface ProcessInputs {
    readonly stdin?: string;
    readonly logging?: string;
    readonly interpreter?: readonly string[];
    readonly dir?: string;
    readonly environment?: Readonly<Record<string, string>>;
    readonly assetPaths?: readonly string[];
    readonly archivePaths?: readonly string[];
    readonly addPreviousOutputInEnv?: boolean;
}

/** The inputs of `command:local:Command`, secrets unwrapped. */
export interface CommandInputs extends ProcessInputs {
    readonly create?: string;
    readonly update?: string;
    readonly delete?: string;
    readonly triggers?: readonly Value[];
}

/** What is wrong with one input. */
export interface Failure {
    readonly property: string;
    readonly reason: string;
}

/**
 * Checks inputs against their shapes and fills in the one default there is: `addPreviousOutputInEnv` is true.
 *
 * @param required names that must be there.
 * @returns the inputs to keep in the stack's state, still with their secrets marked, and every failure.
 */
export function checkInputs(
    inputs: Properties,
    shapes: Readonly<Record<string, Shape>>,
    required: readonly string[] = [],
): { readonly inputs: Properties; readonly failures: readonly Failure[] } {
    const given = Object.entries(inputs).filter(([name, value]) => value !== undefined && !name.startsWith("__"));
    const failures = given.flatMap(([name, value]) => {
        const shape = shapes[name];
        if (!shape) {
            return [{ property: name, reason: `unknown input; the inputs are ${Object.keys(shapes).join(", ")}` }];
        }
        return mismatches(name, value ?? null, shape);
    });
    const missing = required
        .filter((name) => inputs[name] === undefined)
        .map((name) => ({ property: name, reason: `missing required input ${name}` }));
    const kept = Object.fromEntries(given.filter(([, value]) => value !== null));
    return { inputs: { addPreviousOutputInEnv: true, ...kept }, failures: [...failures, ...missing] };
}

/** Every place where a value is not of its shape; null counts as not given, unknown values pass. */
function mismatches(property: string, marked: Value, shape: Shape): Failure[] {
    const value = isSecret(marked) ? marked.value : marked;
    if (value === null || isUnknown(value)) {
        return [];
    }
    const failure = (allowed: string) => [
        { property, reason: `is ${describe(value, marked)}, but must be ${allowed}` },
    ];
    switch (shape) {
        case "string":
            return typeof value === "string" ? [] : failure("a string");
        case "boolean":
            return typeof value === "boolean" ? [] : failure("true or false");
        case "logging":
            return loggings.includes(value as string) ? [] : failure(`one of ${loggings.join(", ")}`);
        case "any list":
            return Array.isArray(value) ? [] : failure("a list");
        case "strings":
            return Array.isArray(value)
                ? value.flatMap((item: Value, index) => mismatches(`${property}[${index}]`, item, "string"))
                : failure("a list of strings");
        case "strings by name":
            return isObject(value)
                ? Object.entries(value).flatMap(([name, item]) =>
                      mismatches(`${property}.${name}`, item ?? null, "string"),
                  )
                : failure("strings by name");
    }
}

function describe(value: Value, marked: Value): string {
    return isSecret(marked) ? "a secret of another type" : JSON.stringify(plain(value));
}

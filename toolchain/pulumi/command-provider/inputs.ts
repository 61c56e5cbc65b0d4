import { isObject, isSecret, isUnknown, plain, type Properties, type Value } from "./values";

/** The values of each shape, with secrets unwrapped. */
interface Shapes {
    string: string;
    boolean: boolean;
    logging: string;
    strings: readonly string[];
    "strings by name": Readonly<Record<string, string>>;
    "any list": readonly Value[];
}

export type Shape = keyof Shapes;

type Inputs<Named extends Record<string, Shape>> = { readonly [Name in keyof Named]?: Shapes[Named[Name]] };

/** Which streams are shown while a command runs. Default: both. */
const loggings = ["stdout", "stderr", "stdoutAndStderr", "none"];

const processShapes = {
    stdin: "string",
    logging: "logging",
    interpreter: "strings",
    dir: "string",
    environment: "strings by name",
    assetPaths: "strings",
    archivePaths: "strings",
    addPreviousOutputInEnv: "boolean",
} as const;

/** The inputs of the resource `command:local:Command`. */
export const commandShapes = {
    create: "string",
    update: "string",
    delete: "string",
    triggers: "any list",
    ...processShapes,
} as const;

/** The arguments of the function `command:local:run`. */
export const runShapes = { command: "string", ...processShapes } as const;

/** How to run a process: checked by {@link checkInputs}. */
export type ProcessInputs = Inputs<typeof processShapes>;

export type CommandInputs = Inputs<typeof commandShapes>;
export type RunInputs = Inputs<typeof runShapes>;

/** An invalid input. */
export interface Failure {
    readonly property: string;
    readonly reason: string;
}

/**
 * Checks inputs against their shapes, and sets the only default: `addPreviousOutputInEnv` is true.
 *
 * @param required names of the required inputs.
 * @returns the inputs to store in the state, with secrets marked, and all failures.
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

/** Where a value has another shape. Null counts as not given; unknown values pass. */
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

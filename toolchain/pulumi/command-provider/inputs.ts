import { COMMAND_PROVIDER_VERSION } from "../versions";
import { holdsSecret, isObject, plain, type Properties, UNKNOWN, type Value } from "./values";

/**
 * The inputs of the resource `command:local:Command` that experiments use, as {@link checkInputs} accepts them, with
 * secrets unwrapped.
 */
export interface CommandInputs {
    readonly create?: string;
    readonly update?: string;
    readonly delete?: string;
    readonly stdin?: string;
    readonly environment?: Readonly<Record<string, string>>;
    /** The stream that is shown while a command runs. @default both */
    readonly logging?: "stderr";
}

interface Expectation {
    holds(value: Value): boolean;
    readonly allowed: string;
}

const isText = (value?: Value) => typeof value === "string";
const text: Expectation = { holds: isText, allowed: "a string" };
const expectations: Readonly<Record<string, Expectation>> = {
    create: text,
    update: text,
    delete: text,
    triggers: { holds: Array.isArray, allowed: "a list" },
    stdin: text,
    environment: {
        holds: (value) => isObject(value) && Object.values(value).every(isText),
        allowed: "strings by name",
    },
    logging: { holds: (value) => value === "stderr", allowed: "stderr, or not set" },
    addPreviousOutputInEnv: { holds: (value) => value === true, allowed: "true" },
};

/** Says which provider has what this one lacks. */
export const onlyInOfficialProvider = (what: string) =>
    `${what} is not part of this stand-in for the command provider; the official provider has it: ` +
    `pulumi plugin install resource command ${COMMAND_PROVIDER_VERSION} --reinstall`;

/** An invalid input. */
interface Failure {
    readonly property: string;
    readonly reason: string;
}

/**
 * Checks a command's inputs, and sets the official provider's only default: `addPreviousOutputInEnv` is true.
 *
 * @returns the inputs to store in the state, with secrets marked, and all failures.
 */
export function checkInputs(inputs: Properties): { readonly inputs: Properties; readonly failures: Failure[] } {
    const given = Object.entries(inputs).filter(
        ([name, value]) => value !== undefined && value !== null && !name.startsWith("__"),
    );
    const failures = given.flatMap(([property, value]) => mistakeIn(property, value!));
    return { inputs: { addPreviousOutputInEnv: true, ...Object.fromEntries(given) }, failures };
}

/** Unknown values pass. */
function mistakeIn(property: string, marked: Value): Failure[] {
    const expected = expectations[property];
    if (!expected) return [{ property, reason: onlyInOfficialProvider(`The input ${property}`) }];
    const value = plain(marked);
    if (value === UNKNOWN || expected.holds(value)) return [];
    const found = holdsSecret(marked) ? "a secret of another type" : JSON.stringify(value);
    return [{ property, reason: `is ${found}, but must be ${expected.allowed}` }];
}

/** Without what is not an input: a state also has outputs. */
export function onlyInputs(properties: Properties): Properties {
    return Object.fromEntries(Object.entries(properties).filter(([name]) => name in expectations));
}

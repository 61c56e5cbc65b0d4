import { COMMAND_PROVIDER_VERSION } from "../versions";
import { plain, type Properties, UNKNOWN, type Value } from "./values";

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

/** The inputs that this stand-in has, with the only values of two of them. The types of the SDK ensure the rest. */
const supported: Readonly<Record<string, { readonly only?: string | boolean }>> = {
    create: {},
    update: {},
    delete: {},
    triggers: {},
    stdin: {},
    environment: {},
    logging: { only: "stderr" },
    addPreviousOutputInEnv: { only: true },
};

/** Says which provider has what this one lacks. */
export const onlyInOfficialProvider = (what: string) =>
    `${what} is not part of this stand-in for the command provider; the official provider has it: ` +
    `pulumi plugin install resource command ${COMMAND_PROVIDER_VERSION} --reinstall`;

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
    const failures = given
        .filter(([name, value]) => !isSupported(name, plain(value!)))
        .map(([property]) => {
            const only = supported[property]?.only;
            const what = only === undefined ? property : `${property} with another value than ${String(only)}`;
            return { property, reason: onlyInOfficialProvider(`The input ${what}`) };
        });
    return { inputs: { addPreviousOutputInEnv: true, ...Object.fromEntries(given) }, failures };
}

/** Unknown values pass. */
function isSupported(name: string, value: Value): boolean {
    const input = supported[name];
    return input !== undefined && (input.only === undefined || value === input.only || value === UNKNOWN);
}

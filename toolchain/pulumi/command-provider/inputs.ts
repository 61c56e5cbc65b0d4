import { COMMAND_PROVIDER_VERSION } from "../versions";
import { plain, type Properties, UNKNOWN } from "./values";

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

/** The inputs that this stand-in has with any value. The types of the SDK ensure the rest. */
const supported = ["create", "update", "delete", "triggers", "stdin", "environment"];
/** Those of which it has only one value. */
const fixed = new Map<string, string | boolean>([
    ["logging", "stderr"],
    ["addPreviousOutputInEnv", true],
]);

/** Says which provider has what this one lacks. */
export const onlyInOfficialProvider = (what: string) =>
    `${what} is not part of this stand-in for the command provider; the official provider has it: ` +
    `pulumi plugin install resource command ${COMMAND_PROVIDER_VERSION} --reinstall`;

/**
 * Checks a command's inputs, and sets the official provider's only default: `addPreviousOutputInEnv` is true.
 *
 * @returns the inputs to store in the state, with secrets marked, and all failures.
 */
export function checkInputs(inputs: Properties) {
    const given = Object.entries(inputs).filter(
        ([name, value]) => value !== undefined && value !== null && !name.startsWith("__"),
    );
    const failures = given.flatMap(([property, value]) => {
        const only = fixed.get(property);
        const isUsual = only !== undefined && [only, UNKNOWN].includes(plain(value!) as string);
        if (isUsual || supported.includes(property)) return [];
        const what = only === undefined ? property : `${property} with another value than ${only}`;
        return [{ property, reason: onlyInOfficialProvider(`The input ${what}`) }];
    });
    return { inputs: { addPreviousOutputInEnv: true, ...Object.fromEntries(given) }, failures };
}

import { gunzipSync, gzipSync } from "node:zlib";
import { ReasonError } from "../values/reasons";

/** Linux starts no process with a longer variable, its name included (MAX_ARG_STRLEN, 128 KiB). */
export const maxVariableLength = 125_000;
const longest = 30_000;
const mark = "gzip:";

/** A text as the value of an environment variable of a step: compressed if it is long. It may still be too long. */
export const asVariable = (text: string): string => (text.length <= longest ? text : compressed(text));

/** A text as a short value in one line, for `fromVariable`: a preview would show JSON in many lines. */
export const compressed = (text: string): string => mark + gzipSync(text, { level: 9 }).toString("base64");

/** The text that a value has been made of, by one of these. */
export function fromVariable(value: string): string {
    if (!value.startsWith(mark)) return value;
    return gunzipSync(Buffer.from(value.slice(mark.length), "base64")).toString();
}

/**
 * A step's result as it prints it: JSON, compressed if it is long. The next step gets it in an environment variable.
 *
 * @throws ReasonError if it is too long even so: some 1,000 targets are
 */
export function printed(result: unknown): string {
    const text = asVariable(JSON.stringify(result));
    if (text.length <= maxVariableLength) return text;
    throw new ReasonError(
        "attack-refused",
        `the targets are too many for one experiment: what is known about them takes ${text.length} bytes, and ` +
            `${maxVariableLength} are possible`,
        "Lower the radius",
    );
}

/** What `printed` has made. @throws Error if a step of an earlier version has ended without a result */
export function parsed<T>(text: string): T {
    if (text !== "") return JSON.parse(fromVariable(text)) as T;
    throw new Error(
        "a step of the experiment ended without a result, so nothing that rests on it begins. Disable the " +
            "experiment, update the stack, then enable it again",
    );
}

import { gunzipSync, gzipSync } from "node:zlib";

/** Linux starts no process with a longer variable, its name included (MAX_ARG_STRLEN, 128 KiB). */
export const maxVariableLength = 125_000;
const longest = 30_000;
const mark = "gzip:";

/** A text as the value of an environment variable of a step: compressed if it is long. It may still be too long. */
export function asVariable(text: string): string {
    return text.length <= longest ? text : mark + gzipSync(text, { level: 9 }).toString("base64");
}

/** The text that `asVariable` has made a value of. */
export function fromVariable(value: string): string {
    if (!value.startsWith(mark)) return value;
    return gunzipSync(Buffer.from(value.slice(mark.length), "base64")).toString();
}

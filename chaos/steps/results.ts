import { gunzipSync, gzipSync } from "node:zlib";

/** Linux starts no process with a longer variable, its name included (MAX_ARG_STRLEN, 128 KiB). */
const maxLength = 125_000;
const longest = 30_000;
const mark = "gzip:";

/**
 * A step's result as it prints it: JSON, compressed if it is long. The next step gets it in an environment variable.
 *
 * @throws Error if it is too long even so: some 1,000 targets are
 */
export function printed(result: unknown): string {
    const json = JSON.stringify(result);
    const text = json.length <= longest ? json : mark + gzipSync(json, { level: 9 }).toString("base64");
    if (text.length <= maxLength) return text;
    throw new Error(
        `the targets are too many for one experiment: what is known about them takes ${text.length} bytes, and ` +
            `${maxLength} are possible. Nothing was attacked. Lower the radius`,
    );
}

/** What a step has printed. */
export function parsed<T>(text: string): T {
    const json = text.startsWith(mark) ? gunzipSync(Buffer.from(text.slice(mark.length), "base64")).toString() : text;
    return JSON.parse(json) as T;
}

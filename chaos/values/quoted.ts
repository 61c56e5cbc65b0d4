/**
 * Texts of others: of objects that anybody may write, of admission webhooks, of applications and programs. They are
 * shown on one line, with a limit, and in quotes beside their source: they may look like a further line of ours, hide
 * or reorder text in a terminal, or name a command. None becomes a part of a command.
 */
import { stripVTControlCharacters } from "node:util";

/** What ends a line or moves a terminal's cursor. */
const breaking = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;
/** What has no width, or reorders what follows; and halves of characters. */
const invisible = /[\p{Cf}\p{Cs}]/gu;

/** @param most characters. @default 500 */
export function onOneLine(text: string, most = 500): string {
    // The longer a text is, the longer it takes to find what is hidden in it.
    const start = stripVTControlCharacters(text.slice(0, 10 * most));
    const line = start.replace(invisible, "").replace(breaking, " ").trim();
    if (line.length <= most) return line;
    const kept = line.slice(0, most - 1).replace(invisible, "");
    return `${kept.trimEnd()}…`;
}

/** The beginning of a text that is too long. @param most characters */
export const shortened = (text: string, most: number): string =>
    text.length <= most ? text : `${text.slice(0, most - 1)}…`;

/** In quotes that the text cannot end: it may have straight ones. @param most characters. @default 500 */
export const quoted = (text: string, most?: number): string => `“${onOneLine(text, most).replace(/[“”]/g, '"')}”`;

/** Leaves a single word as it is, such as a reason or a name in Kubernetes, and puts anything else in quotes. */
export function wordOf(value: unknown, most = 60): string {
    const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "missing");
    return text.length <= most && /^[\w.:/-]+$/.test(text) ? text : quoted(text, most);
}

/** Removes what controls a terminal from lines of our own that may quote a text of others. */
export const withoutControls = (text: string): string =>
    stripVTControlCharacters(text)
        .replace(/(?![\n\t])\p{Cc}/gu, " ")
        .replace(/[\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, "");

/** Names that an error shows where it lists all that there are. */
export const maxNamed = 10;

/** Some names, and how many more there are: `a, b, c and 2 more`. @param most that are named. @default 3 */
export const few = (names: readonly string[], most = 3): string =>
    names.slice(0, most).join(", ") + (names.length > most ? ` and ${names.length - most} more` : "");

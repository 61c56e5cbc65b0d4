import { formatDuration, parseDuration } from "../../values/duration";
import { isHeaderName } from "../../values/http-method";
import { onOneLine } from "../../values/quoted";
import { describeValue, placeIn } from "../../values/texts";

/** A remark about a place in a file, which is given by keys and indices joined by dots. */
export interface Remark {
    path: string;
    reason: string;
}

export interface Remarks {
    /** What the experiment does differently, or leaves out: a person decides whether that is acceptable. */
    differences: Remark[];
    /** Without these, the experiment must not be written. */
    refused: Remark[];
    /** Values of placeholders, by their names. */
    set: Readonly<Record<string, string>>;
    /** Placeholders without a value. */
    unset: Set<string>;
}

export const remarksWith = (set: Remarks["set"]): Remarks => ({
    differences: [],
    refused: [],
    set,
    unset: new Set(),
});

/** Keys and values of a file may have control characters, which a terminal would obey. */
export const remarkOf = (path: string, reason: string): Remark => ({
    path: onOneLine(path),
    reason: onOneLine(reason, 1_000),
});

/** Completes a sentence that begins with what an experiment cannot express. */
export const noCounterpart = "has no counterpart";

type JsonObject = Record<string, unknown>;

/** Fills placeholders of which the value is known; of others, it has the names. */
function filledIn(written: string, { set, unset }: Remarks): { text: string; isWhole: boolean } {
    let isWhole = true;
    const text = written.replace(placeholder, (_, ...names: (string | undefined)[]) => {
        const name = names.slice(0, 3).find((one) => one !== undefined)!;
        if (Object.hasOwn(set, name)) return set[name]!;
        unset.add(name);
        isWhole = false;
        return name;
    });
    return { text, isWhole };
}

/** The names of all placeholders in a text. */
export function placeholdersIn(text: string): Set<string> {
    const remarks = remarksWith({});
    filledIn(text, remarks);
    return remarks.unset;
}

const isObject = (value: unknown): value is JsonObject =>
    typeof value === "object" && value !== null && !Array.isArray(value);

/** Such as `{{host}}`, `${HOST}`, or `[[deployment]]` in a template of Steadybit. The file does not have its value. */
const placeholder = /\{\{\s*([\w.-]+)\s*\}\}|\[\[\s*([\w.-]+)\s*\]\]|\$\{([\w.-]+)\}/g;
/** What only a program for templates knows the value of, such as `{{ .Values.host | quote }}`. */
const expression = /\{\{.*?\}\}|\$\{.*?\}/;

/**
 * Reads the fields of an object in a file. `noteRest` and `refuseRest` report the fields that were not read. Wrong
 * values are refused, and read as if they were missing, so that all mistakes are reported at once. Values are not
 * repeated, since any may be a secret; only words are, such as a kind, unless they look like a credential.
 */
export class Fields {
    private readonly values: JsonObject;
    private readonly unread: Set<string>;

    /** @param path of the object. @default the whole file */
    constructor(
        value: unknown,
        readonly remarks: Remarks,
        private readonly path = "",
    ) {
        const entries = Object.entries(isObject(value) ? value : {}).map(([key, one]) => {
            const filled = filledIn(key, remarks).text;
            if (expression.test(filled)) this.refuse("has a placeholder in a key: write its value into the file");
            return [filled, one] as const;
        });
        this.values = Object.fromEntries(entries);
        if (Object.keys(this.values).length < entries.length) this.refuse("has a key twice");
        this.unread = new Set(Object.keys(this.values).filter((key) => !isEmpty(this.values[key])));
        if (!isObject(value) && !isEmpty(value)) this.refuse("is not an object");
    }

    /** The same fields, with what is said of them kept apart. */
    apart(remarks = remarksWith(this.remarks.set)): Fields {
        return new Fields(this.values, remarks, this.path);
    }

    at(key?: string | number): string {
        // A whole header may have been written in place of its name.
        const place = key === undefined ? "" : placeIn([key]).replace(/[:=].*/s, "…");
        return [this.path, place].filter((part) => part !== "").join(".");
    }

    refuse(reason: string, key?: string): void {
        if (key !== undefined) this.unread.delete(key);
        this.remarks.refused.push(remarkOf(this.at(key), reason));
    }

    note(reason: string, key?: string): void {
        if (key !== undefined) this.unread.delete(key);
        this.remarks.differences.push(remarkOf(this.at(key), reason));
    }

    keys(): string[] {
        return Object.keys(this.values);
    }

    has(key: string): boolean {
        return !isEmpty(this.values[key]);
    }

    /** Whether there is an empty text, list or object, which may mean "none of them" where null means "any". */
    isEmpty(key: string): boolean {
        return isEmpty(this.values[key]) && this.values[key] !== undefined && this.values[key] !== null;
    }

    /** @returns undefined if the value is missing, null, or an empty text, list or object */
    take(key: string): unknown {
        this.unread.delete(key);
        const value = this.values[key];
        return isEmpty(value) ? undefined : value;
    }

    /** A text, or the text of a number or boolean. Undefined if a placeholder in it has no value. */
    text(key: string): string | undefined {
        const filled = this.filled(key);
        return filled?.isWhole ? filled.text : undefined;
    }

    /** The same, with the names of placeholders that have no value in their places. */
    draft(key: string): string | undefined {
        return this.filled(key)?.text;
    }

    private filled(key: string): { text: string; isWhole: boolean } | undefined {
        const value = this.take(key);
        if (value === undefined) return undefined;
        if (typeof value === "object") return void this.refuse("is a list or an object, not one value", key);
        const filled = filledIn(typeof value === "string" ? value : JSON.stringify(value), this.remarks);
        if (!expression.test(filled.text)) return filled;
        return void this.refuse("has a placeholder: write its value into the file", key);
    }

    number(key: string, { least, most }: { least: number; most: number }): number | undefined {
        const text = this.text(key);
        if (text === undefined) return undefined;
        const value = Number(text);
        if (value >= least && value <= most) return value;
        return void this.refuse(`is not a number from ${least} to ${most}`, key);
    }

    /** In whole milliseconds. */
    duration(key: string): number | undefined {
        const text = this.text(key);
        const milliseconds = text === undefined ? undefined : text === "0" ? 0 : parseDuration(text);
        if (milliseconds && /\.\d+ms/.test(text!)) this.note(`is ${formatDuration(milliseconds)} here`, key);
        if (text !== undefined && milliseconds === undefined)
            this.refuse("is not a duration such as 500ms, 30s or 5m0s", key);
        return milliseconds;
    }

    /** What a word stands for. @param ifMissing the word, if there is none. @default it is required */
    word<T>(key: string, meanings: Readonly<Record<string, T | Refusal>>, ifMissing?: string): T | undefined {
        const text = this.text(key) ?? (this.has(key) ? undefined : ifMissing);
        if (text === undefined && this.has(key)) return undefined;
        const meaning = text !== undefined && Object.hasOwn(meanings, text) ? meanings[text] : undefined;
        const isDefault = this.has(key) ? "" : ", the default";
        if (meaning instanceof Refusal) return void this.refuse(`${text}${isDefault}: ${meaning.reason}`, key);
        if (meaning !== undefined) return meaning;
        const known = Object.keys(meanings).filter((each) => !(meanings[each] instanceof Refusal));
        const problem = text === undefined ? "is missing" : `${describeValue(text)} ${noCounterpart}`;
        return void this.refuse(`${problem}; has one: ${known.join(", ")}`, key);
    }

    object(key: string): Fields {
        return new Fields(this.take(key), this.remarks, this.at(key));
    }

    objects(key: string): Fields[] {
        return this.list(key).map((each, index) => new Fields(each, this.remarks, this.at(`${key}.${index}`)));
    }

    /** @param mayBeNumbers whether numbers are texts, too, of which the zeros at an end do not count */
    texts(key: string, mayBeNumbers = false): string[] {
        const { remarks } = this;
        return this.list(key).flatMap((each, index) => {
            const fields = new Fields({ [index]: each }, remarks, this.at(key));
            if (isEmpty(each)) fields.refuse("is empty", String(index));
            else if (!mayBeNumbers) fields.requireText(String(index));
            return fields.draft(String(index)) ?? [];
        });
    }

    /** Here an empty text is a value. */
    textsByKey(key: string): [name: string, value: string][] {
        const value = this.take(key) ?? {};
        const fields = new Fields(value, this.remarks, this.at(key));
        return Object.keys(fields.values).map((name) => {
            fields.requireText(name);
            return [name, fields.text(name) ?? ""];
        });
    }

    /** Of `1.10` without quotes, the zero is lost. */
    private requireText(key: string): void {
        const value = this.values[key];
        if (value === null || ["number", "boolean"].includes(typeof value))
            this.refuse("is no text: write it in quotes", key);
    }

    private list(key: string): unknown[] {
        const value = this.take(key) ?? [];
        if (Array.isArray(value)) return value;
        this.refuse("is not a list", key);
        return [];
    }

    noteRest(reason: string): void {
        for (const key of this.unread) this.note(reason, key);
    }

    refuseRest(): void {
        for (const key of this.unread) this.refuse(noCounterpart, key);
        this.unread.clear();
    }
}

/** Headers by name. A whole header may have been written in place of a name, so no message repeats names. */
export function headersAt(fields: Fields, key: string, headers: readonly (readonly [name: string, value: string])[]) {
    if (!headers.every(([name]) => isHeaderName(name)))
        fields.refuse("has a key that is not the name of a header; allowed: such as x-request-id", key);
    return headers.length > 0 ? Object.fromEntries(headers) : undefined;
}

/** In a table of meanings, it says why a word has none. */
export class Refusal {
    constructor(readonly reason: string) {}
}

/** Refuses what no attack does. @param nearest what comes nearest. @default nothing comes near */
export const unlikeAny = (does: string, nearest?: string): Refusal =>
    new Refusal(
        `${does}; no attack does that. ${nearest === undefined ? "Nothing comes near" : `Nearest: ${nearest}`}`,
    );

const isEmpty = (value: unknown): boolean =>
    value === undefined ||
    value === null ||
    value === "" ||
    (Array.isArray(value) && value.length === 0) ||
    (isObject(value) && Object.keys(value).length === 0);

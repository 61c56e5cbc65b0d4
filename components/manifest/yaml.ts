import { CORE_SCHEMA, loadAll, type State, Type, YAMLException } from "js-yaml";

// Plain scalars as `kubectl apply` reads them, with sigs.k8s.io/yaml: those of YAML 1.1, without base 60 and dates
// (https://github.com/kubernetes-sigs/yaml/blob/v1.6.0/goyaml.v2/resolve.go).
const yes = ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"];
const no = ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"];
const isYes = (text: string) => yes.includes(text);
const integer = /^[-+]?(?:0b[01]+|0o?[0-7]+|0x[\da-f]+|0|[1-9]\d*)$/i;
const float = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:e[-+]?\d+)?$/i;
const notFinite = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

const scalar = (name: string, resolve: (text: string) => boolean, construct: (text: string) => unknown) =>
    new Type(`tag:yaml.org,2002:${name}`, {
        kind: "scalar",
        resolve: (text: string | null) => text !== null && resolve(text),
        construct,
    });

/** A number without the underscores that may group its digits. */
const digitsOf = (text: string) => (/^[-+\d]/.test(text) ? text.replaceAll("_", "") : text);

function integerOf(text: string): number {
    const digits = digitsOf(text);
    const unsigned = digits.replace(/^[-+]/, "").toLowerCase();
    const value = Number(unsigned.replace(/^0(?=\d)/, "0o"));
    // Pulumi and JSON.parse pass numbers as doubles.
    if (!Number.isSafeInteger(value)) throw new Error("an integer beyond 2^53 cannot be passed on exactly");
    return digits.startsWith("-") && value !== 0 ? -value : value;
}

function floatOf(text: string): number {
    if (notFinite.test(text)) throw new Error("JSON has no such number; text needs quotes");
    return Number(digitsOf(text));
}

const isFloat = (text: string) =>
    notFinite.test(text) || (float.test(digitsOf(text)) && Number.isFinite(Number(digitsOf(text))));

const schema = CORE_SCHEMA.extend({
    implicit: [
        scalar("bool", (text) => isYes(text) || no.includes(text), isYes),
        scalar("int", (text) => integer.test(digitsOf(text)), integerOf),
        scalar("float", isFloat, floatOf),
    ],
});

/** A place in a text, counted from 1. */
export interface Place {
    line: number;
    column: number;
}

export const shown = ({ line, column }: Place) => `line ${line}, column ${column}`;

/**
 * The documents of a YAML or JSON text, as `kubectl apply` reads them.
 *
 * @returns also where each of their mappings begins
 * @throws Error that says where and why it cannot be read. It does not quote the text, which may contain a key
 */
export function readYaml(text: string): { documents: unknown[]; placeOf: (mapping: unknown) => Place | undefined } {
    const places = new WeakMap<object, Place>();
    const open: Place[] = [];
    let last = { line: 1, column: 1 };
    const placeIn = ({ line, position, lineStart }: State) => ({ line: line + 1, column: position - lineStart + 1 });
    try {
        const documents = loadAll(text, undefined, {
            schema,
            listener: (event, state) => {
                if (event === "open") open.push((last = placeIn(state)));
                else {
                    last = open.pop()!;
                    if (!isMapping(state.result)) return;
                    // An alias is closed again, in another place.
                    if (!places.has(state.result)) places.set(state.result, last);
                    merge(state.result);
                }
            },
        });
        return { documents, placeOf: (mapping) => places.get(mapping as object) };
    } catch (error) {
        const { mark } = error as Partial<YAMLException>;
        const place = mark ? { line: mark.line + 1, column: mark.column + 1 } : last;
        // What the parser quotes comes last.
        const reason =
            error instanceof YAMLException ? error.reason.replace(/(?:: |["!]).*$/s, "…") : (error as Error).message;
        throw new Error(`${shown(place)}: ${reason}`);
    }
}

export const isMapping = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value);

/** Resolves a merge key: its mappings override what stands above it, and are overridden by what stands below. */
function merge(mapping: Record<string, unknown>): void {
    // js-yaml's name for a mapping as a key.
    if ("[object Object]" in mapping) throw new Error("a key is a mapping; was {{ … }} meant to be filled in?");
    if (!("<<" in mapping)) return;
    const entries = Object.entries(mapping);
    const place = entries.findIndex(([key]) => key === "<<");
    // JavaScript puts keys that are whole numbers first: where they stood is unknown, and mostly that is below.
    const below = entries.filter(([key], index) => index > place || /^(?:0|[1-9]\d*)$/.test(key));
    const sources = [mapping["<<"]].flat().reverse();
    if (!sources.every(isMapping)) throw new Error("a merge key << needs a mapping, or a list of mappings");
    delete mapping["<<"];
    Object.assign(mapping, ...sources, Object.fromEntries(below));
}

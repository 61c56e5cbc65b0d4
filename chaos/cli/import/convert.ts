import { loadAll } from "js-yaml";
import { type DefinedExperiment, planOfArguments } from "../../definition/arguments";
import { maxNameLength } from "../../definition/definition";
import { parseJson } from "../../values/json";
import { onOneLine } from "../../values/quoted";
import { ofChaosMesh } from "./chaos-mesh";
import { describeValue } from "../../values/texts";
import { Fields, type Remark, type Remarks, remarkOf } from "./fields";
import type { Additions, Found } from "./imported";
import { ofSteadybit } from "./steadybit";

export interface Imported {
    name: string;
    args: DefinedExperiment;
    differences: Remark[];
}

/**
 * The experiments that a file of Steadybit or Chaos Mesh describes. Each has passed the experiment's own validation.
 *
 * @param text JSON, or YAML, of which each document is an experiment
 * @throws Error if the file is neither
 * @returns the experiments that can be written, and why the others cannot
 */
export function importExperiments(text: string, additions: Additions): { experiments: Imported[]; refused: Remark[] } {
    const documents = documentsIn(text);
    const all = documents.map((document, index) => {
        const remarks: Remarks = { differences: [], refused: [] };
        const object = new Fields(document, remarks, documents.length > 1 ? String(index) : "");
        return { ...importOne(object, additions), ...remarks };
    });
    if (documents.length === 0) return { experiments: [], refused: [remarkOf("", "has no document")] };
    for (const [index, { name, refused }] of all.entries())
        if (all.slice(0, index).some((earlier) => earlier.name === name && earlier.refused.length === 0))
            refused.push(remarkOf(`${index}`, `an earlier experiment has the name ${name}: rename one`));
    return {
        experiments: all.filter(({ refused }) => refused.length === 0) as Imported[],
        refused: all.flatMap(({ refused }) => refused),
    };
}

function documentsIn(text: string): unknown[] {
    const json = parseJson(text);
    try {
        const documents = json === undefined ? loadAll(text) : [json];
        return documents.filter((document) => document !== null && document !== undefined);
    } catch (error) {
        if (!text.includes("{{")) throw error;
        throw new Error("it is a template, with {{ … }}; render it first, such as with helm template");
    }
}

function importOne(object: Fields, additions: Additions): Partial<Imported> {
    const isSteadybit = object.has("lanes");
    if (!isSteadybit && !/^chaos-mesh\.org\//.test(object.text("apiVersion") ?? "")) {
        const kind = object.has("kind") ? `${describeValue(object.take("kind"))} ` : "";
        object.refuse(`${kind}is neither an experiment of Steadybit, with lanes, nor an object of chaos-mesh.org`);
        return {};
    }
    const found = (isSteadybit ? ofSteadybit : ofChaosMesh)(object, additions);
    const name = nameIn(object, found.name, isSteadybit ? "name" : "metadata.name");
    const hypothesis = additions.hypothesis ?? found.hypothesis;
    if (hypothesis === undefined) object.refuse("the file has no hypothesis: add --hypothesis TEXT");
    const checks = [...(found.checks ?? []), ...additions.checks];
    if (checks.length === 0)
        object.refuse("the file has no check for the time of the attack: add --check URL, what must answer meanwhile");
    if (name === undefined || object.remarks.refused.length > 0) return { name };
    const { name: _, hypothesis: __, places = {}, ...rest } = found;
    for (const index of additions.checks.keys())
        places[`checks.${index + checks.length - additions.checks.length}`] = "--check";
    const args = withoutUndefined({ hypothesis, ...rest, checks }) as DefinedExperiment;
    try {
        planOfArguments(name, args);
    } catch (error) {
        object.remarks.refused.push(...mistakesAt(object, places, (error as Error).message));
    }
    return { name, args };
}

/** An experiment's name, from one that may have any characters. */
function nameIn(object: Fields, text: string | undefined, key: string): string | undefined {
    if (text === undefined) {
        if (!object.remarks.refused.some(({ path }) => path === object.at(key))) object.refuse("is missing", key);
        return undefined;
    }
    const whole = text
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "-")
        .replace(/^-+|-+$/g, "");
    const name = whole.slice(0, maxNameLength).replace(/-+$/, "");
    if (name !== whole)
        object.note(`is cut to ${name}: an experiment's name has at most ${maxNameLength} characters`, key);
    if (name !== "") return name;
    return void object.refuse(
        `${describeValue(text)} has nothing that an experiment's name may have; allowed: a to z, 0 to 9 and dashes`,
        key,
    );
}

/** Puts the mistakes that the experiment's validation lists to their places in the file. */
function mistakesAt(object: Fields, places: NonNullable<Found["places"]>, message: string): Remark[] {
    const [whole, ...mistakes] = message.split("\n  ");
    return (mistakes.length > 0 ? mistakes : [whole!]).map((mistake) => {
        const [, at = "", reason = mistake] = /^(\S+): (.*)$/s.exec(mistake) ?? [];
        const keys = at.split(".");
        const known = keys.map((_, index) => keys.slice(0, keys.length - index).join("."));
        const place = known.find((prefix) => Object.hasOwn(places, prefix));
        if (place === undefined) return remarkOf(object.at(), mistake);
        const inner = at.slice(place.length).replace(/^[.\d]+/, "");
        return remarkOf(places[place]!, inner === "" ? reason : `${inner}: ${reason}`);
    });
}

/** Leaves out empty lists, too, such as that of the actions. */
function withoutUndefined(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(withoutUndefined);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
        Object.entries(value).flatMap(([key, inner]) =>
            inner === undefined || (Array.isArray(inner) && inner.length === 0) ? [] : [[key, withoutUndefined(inner)]],
        ),
    );
}

/** A different variable for each name, and never a reserved word of TypeScript such as `delete`. */
const variableOf = (name: string): string =>
    `${name.replace(/^(?=\d)|-(?=\d)/g, "_").replace(/-(.)/g, (_, next: string) => next.toUpperCase())}Experiment`;

/** Escapes what a terminal would obey or not show, as strings of TypeScript can. */
const escaped = (json: string): string =>
    json.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) => `\\u{${found.codePointAt(0)!.toString(16)}}`);

/** The part of a program that has the arguments of a file's experiments. */
export function writtenAs(experiments: readonly Imported[], file: string): string {
    const constants = experiments.map(({ name, args, differences }) => {
        const variable = variableOf(name);
        const remarks = differences.map(({ path, reason }) => `// - ${path}: ${reason}`);
        const head = remarks.length > 0 ? ["// Differs from the file:", ...remarks] : [];
        const keysUnquoted = escaped(JSON.stringify(args, null, 4)).replace(/^( *)"([A-Za-z_]\w*)": /gm, "$1$2: ");
        return [
            `// new Experiment(${JSON.stringify(name)}, { enabled: …, ...${variable} });`,
            ...head,
            `export const ${variable}: DefinedExperiment = ${keysUnquoted};`,
        ].join("\n");
    });
    const from = `// Imported from ${onOneLine(file)}.`;
    return `${from}\nimport type { DefinedExperiment } from "pulumi-chaos-experiments";\n\n${constants.join("\n\n")}\n`;
}

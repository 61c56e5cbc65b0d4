import { loadAll } from "js-yaml";
import { type DefinedExperiment, planOfArguments } from "../definition/arguments";
import { maxNameLength } from "../definition/definition";
import { parseJson } from "../json";
import { ofChaosMesh } from "./chaos-mesh";
import { Fields, type Remark, type Remarks } from "./fields";
import type { Additions } from "./imported";
import { ofSteadybit } from "./steadybit";

/** An experiment of a file, as it is written here. */
export interface Imported {
    name: string;
    args: DefinedExperiment;
    /** What it does otherwise than the file, or leaves out. */
    differences: Remark[];
}

/**
 * The experiments that a file of Steadybit or Chaos Mesh describes. Each has passed the experiment's own validation.
 *
 * @param text JSON, or YAML, of which each document is an experiment
 * @throws Error if the file is neither
 * @returns all experiments; or, if something of one cannot be said, everything that cannot
 */
export function importExperiments(text: string, additions: Additions): Imported[] | { refused: Remark[] } {
    const documents = documentsIn(text);
    const all = documents.map((document, index) => {
        const remarks: Remarks = { differences: [], refused: [] };
        const object = new Fields(document, remarks, documents.length > 1 ? String(index) : "");
        return { ...importOne(object, additions), ...remarks };
    });
    const refused = all.flatMap((each) => each.refused);
    if (documents.length === 0) refused.push({ path: "", reason: "has no document" });
    for (const [index, { name }] of all.entries())
        if (name !== undefined && all.findIndex((each) => each.name === name) < index)
            refused.push({ path: `${index}`, reason: `another experiment has the name ${name}: rename one` });
    return refused.length > 0 ? { refused } : (all as Imported[]);
}

function documentsIn(text: string): unknown[] {
    const json = parseJson(text);
    const documents = json === undefined ? loadAll(text) : [json];
    return documents.filter((document) => document !== null && document !== undefined);
}

function importOne(object: Fields, additions: Additions): Partial<Imported> {
    const isSteadybit = object.has("lanes");
    if (!isSteadybit && !/^chaos-mesh\.org\//.test(object.text("apiVersion") ?? "")) {
        object.refuse("is neither an experiment of Steadybit, with lanes, nor an object of chaos-mesh.org");
        return {};
    }
    const found = (isSteadybit ? ofSteadybit : ofChaosMesh)(object, additions);
    const name = nameFrom(found.name ?? "");
    const hypothesis = additions.hypothesis ?? found.hypothesis;
    if (hypothesis === undefined) object.refuse("the file has no hypothesis: add --hypothesis TEXT");
    const checks = [...(found.checks ?? []), ...additions.checks];
    if (checks.length === 0)
        object.refuse("the file has no check for the time of the attack: add --check URL, what must answer meanwhile");
    if (name === "") object.refuse("has no name", isSteadybit ? "name" : "metadata.name");
    if (object.remarks.refused.length > 0) return { name: name || undefined };
    const { name: _, hypothesis: __, ...rest } = found;
    const args = withoutUndefined({ hypothesis, ...rest, checks }) as DefinedExperiment;
    try {
        planOfArguments(name, args);
    } catch (error) {
        object.refuse((error as Error).message);
    }
    return { name, args };
}

/** A name of an experiment, from one that may have any characters. */
const nameFrom = (text: string): string =>
    text
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "-")
        .slice(0, maxNameLength)
        .replace(/^-+|-+$/g, "");

/** Also without empty lists, as of actions. */
function withoutUndefined(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(withoutUndefined);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
        Object.entries(value).flatMap(([key, inner]) =>
            inner === undefined || (Array.isArray(inner) && inner.length === 0) ? [] : [[key, withoutUndefined(inner)]],
        ),
    );
}

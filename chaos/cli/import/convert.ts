import { DEFAULT_SCHEMA, loadAll, Type } from "js-yaml";
import { type DefinedExperiment, planOfArguments } from "../../definition/arguments";
import { maxNameLength } from "../../definition/definition";
import { attackKinds } from "../../kinds/attacks/registry";
import { parseJson } from "../../values/json";
import { describeValue } from "../../values/texts";
import { ofChaosMesh } from "./chaos-mesh/object";
import { Fields, type Remark, remarkOf, remarksWith } from "./fields";
import { type Additions, type Found, hintOf, type Part } from "./imported";
import { ofSteadybit } from "./steadybit/experiment";
import type { Imported } from "./written";

export interface Result {
    experiments: Imported[];
    /** Why others cannot be written. */
    refused: Remark[];
    /** Documents that are no experiments. */
    leftOut: Remark[];
}

/**
 * The experiments that the documents of a file of Steadybit or Chaos Mesh describe. Each has passed the experiment's
 * own validation.
 */
export function importExperiments(documents: readonly unknown[], additions: Additions): Result {
    const objects = documents.map((document, index) => {
        const remarks = remarksWith(additions.set ?? {});
        return new Fields(document, remarks, documents.length > 1 ? String(index) : "");
    });
    const isLeftOut = (object: Fields) => objects.some(isExperiment) && isOther(object);
    const parts = objects.filter((object) => !isLeftOut(object)).flatMap((object) => partsOf(object, additions));
    const names = new Set<string>();
    const all = parts.map((part) => completed(part, additions, names));
    return {
        experiments: all.flatMap(({ imported }) => imported ?? []),
        refused: documents.length === 0 ? [remarkOf("", "has no document")] : all.flatMap(({ refused }) => refused),
        leftOut: objects.filter(isLeftOut).map((object) => remarkOf(object.at("kind"), `${kindOf(object)} ${leftOut}`)),
    };
}

const leftOut = "is no experiment of Chaos Mesh, and is left out: apply it by itself";

/** As kubectl reads YAML, by sigs.k8s.io/yaml: a date without quotes is a text. */
const schema = DEFAULT_SCHEMA.extend({
    implicit: [new Type("tag:yaml.org,2002:timestamp", { kind: "scalar", resolve: () => false })],
});

/** @param text JSON, or YAML of one or more documents. @throws Error if it is neither */
export function documentsIn(text: string): unknown[] {
    const json = parseJson(text);
    try {
        const documents = json === undefined ? loadAll(text, undefined, { schema }) : [json];
        return documents.filter((document) => document !== null && document !== undefined).flatMap(itemsIn);
    } catch (error) {
        if (!text.includes("{{")) throw error;
        throw new Error("it is a template, with {{ … }}; render it first, such as with helm template");
    }
}

/** Those of a list, also as `kubectl get --output yaml` prints one. */
const itemsIn = (document: unknown): unknown[] => {
    if (Array.isArray(document)) return document as unknown[];
    const { kind, items } = document as { kind?: unknown; items?: unknown };
    return typeof kind === "string" && kind.endsWith("List") && Array.isArray(items)
        ? (items as unknown[])
        : [document];
};

const isOfSteadybit = (object: Fields) => object.has("lanes");
const isOfChaosMesh = (object: Fields) => /^chaos-mesh\.org\//.test(String(object.take("apiVersion")));
const isExperiment = (object: Fields) => isOfSteadybit(object) || isOfChaosMesh(object);
/** Whether it is another object of Kubernetes, such as a Namespace. */
const isOther = (object: Fields) => !isExperiment(object) && object.has("apiVersion") && object.has("kind");

const kindOf = (object: Fields) => describeValue(object.draft("kind"));

/** What a file of another tool is, if that shows. */
function whatIs(object: Fields): string {
    if (object.has("kind")) return `${kindOf(object)} of ${object.draft("apiVersion") ?? "no apiVersion"}`;
    if (object.keys().includes("method")) return "an experiment of Chaos Toolkit";
    return /scenario|config/.test(object.keys().join()) ? "a scenario of krkn" : "what has no kind";
}

/** Attacks by the experiments of Litmus to which they come nearest. */
const ofLitmus: Readonly<Partial<Record<(typeof attackKinds)[number], RegExp>>> = {
    kill: /^pod-delete/,
    stress: /^pod-(cpu|memory)/,
    dns: /^pod-dns/,
    blackhole: /^pod-network-(loss|part)/,
    fault: /^pod-(network-lat|http)/,
};

function nearestToLitmus(object: Fields): string {
    if (!object.draft("apiVersion")?.startsWith("litmuschaos.io/")) return "";
    const experiments = object.object("spec").objects("experiments");
    const names = experiments.flatMap((experiment) => experiment.draft("name") ?? []);
    const nearest = names.map(
        (name) => `to ${name}: ${Object.entries(ofLitmus).find(([, form]) => form.test(name))?.[0] ?? "nothing"}`,
    );
    return nearest.length > 0 ? `Write by hand what comes nearest ${nearest.join(", ")}` : "";
}

function partsOf(object: Fields, additions: Additions): Part[] {
    if (isOfSteadybit(object)) return ofSteadybit(object, additions);
    if (isOfChaosMesh(object)) return ofChaosMesh(object, additions);
    const neither = "is neither an experiment of Steadybit, with lanes, nor an object of chaos-mesh.org";
    const byHand = `Write an attack in it by hand, as the nearest of ${attackKinds.join(", ")}`;
    const nearest = nearestToLitmus(object);
    if (object.remarks.refused.length === 0)
        object.refuse(`${whatIs(object)} ${neither}. ${nearest || byHand}`, object.has("kind") ? "kind" : undefined);
    return [{ object, nameKey: "name", found: {} }];
}

/** @param names those of earlier experiments, to which this one's is added */
function completed(
    { object, nameKey, found }: Part,
    additions: Additions,
    names: Set<string>,
): { imported?: Imported; refused: Remark[] } {
    const { remarks } = object;
    const refused = () => ({ refused: [...remarks.refused, ...placeholdersIn(object)] });
    if (Object.keys(found).length === 0) return refused();
    const name = nameIn(object, found.name, nameKey, names);
    const hypothesis = additions.hypothesis ?? found.hypothesis;
    if (hypothesis === undefined && !object.has("hypothesis"))
        object.refuse("the file has no hypothesis: add --hypothesis TEXT");
    const checks = [...(found.checks ?? []), ...additions.checks];
    for (const hint of additions.checks.flatMap((check) => hintOf(check) ?? []))
        remarks.differences.push(remarkOf("--check", hint));
    if (checks.length === 0) {
        object.refuse("the file has no check for the time of the attack: add --check URL");
        remarks.refused.push(...remarks.differences.filter(({ reason }) => reason.includes("left out")));
    }
    if (name === undefined || remarks.refused.length > 0 || remarks.unset.size > 0) return refused();
    const { name: _, hypothesis: __, places = {}, ...rest } = found;
    for (const index of additions.checks.keys())
        places[`checks.${index + checks.length - additions.checks.length}`] = "--check";
    const args = withoutUndefined({ hypothesis, ...rest, checks }) as DefinedExperiment;
    try {
        planOfArguments(name, args);
    } catch (error) {
        remarks.refused.push(...mistakesAt(object, places, (error as Error).message));
        return refused();
    }
    names.add(name);
    return { imported: { name, args, differences: remarks.differences }, refused: [] };
}

/** One remark for all placeholders, with what gives them values. */
function placeholdersIn(object: Fields): Remark[] {
    const names = [...object.remarks.unset];
    const options = names.map((name) => `--set ${name}=…`).join(" ");
    const rest = object.remarks.refused.length === 0 ? "; all else of it can be said" : "";
    return names.length === 0 ? [] : [remarkOf(object.at(), `has placeholders: give them values by ${options}${rest}`)];
}

/** An experiment's name, from one that may have any characters. */
function nameIn(object: Fields, text: string | undefined, key: string, others: ReadonlySet<string>) {
    if (text === undefined) {
        const { refused, unset } = object.remarks;
        if (unset.size === 0 && !refused.some(({ path }) => path === object.at(key))) object.refuse("is missing", key);
        return undefined;
    }
    const whole = text
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "-")
        .replace(/^-+|-+$/g, "");
    const cutTo = (length: number) => whole.slice(0, length).replace(/-+$/, "");
    const cut = cutTo(maxNameLength);
    if (cut === "")
        return void object.refuse(
            `${describeValue(text)} has nothing that an experiment's name may have; allowed: a to z, 0 to 9 and dashes`,
            key,
        );
    const numbered = Array.from(others, (_, index) => `${cutTo(maxNameLength - 4)}-${index + 2}`);
    const name = [cut, ...numbered].find((one) => !others.has(one))!;
    if (cut !== whole)
        object.note(`is cut to ${cut}: an experiment's name has at most ${maxNameLength} characters`, key);
    if (name !== cut) object.note(`is ${name} here, since an earlier experiment has the name ${cut}`, key);
    return name;
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
const withoutUndefined = (args: unknown): unknown =>
    JSON.parse(JSON.stringify(args, (_, value: unknown) => (isEmptyList(value) ? undefined : value)));

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

import { readFile } from "node:fs/promises";
import { download } from "../../toolchain/download";
import { isMapping, type Place, readYaml, shown } from "./yaml";

export interface ManifestObject {
    apiVersion: string;
    kind: string;
    metadata: {
        name: string;
        namespace?: string;
        labels?: Record<string, string>;
        annotations?: Record<string, string>;
    };
    [field: string]: unknown;
}

const fetchTimeoutMs = 15_000;

/**
 * Reads the objects of a manifest, as `kubectl apply` does: the items of lists, and no empty documents.
 *
 * @param location path or URL
 * @param namespace of objects that name none. @default they are in none
 * @throws Error whose message completes "it …". It does not quote the manifest, which may contain a key
 */
export async function readObjects(location: string, namespace?: string): Promise<ManifestObject[]> {
    const text = await textOf(location).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "EISDIR") throw new Error("is a folder; allowed: one file, or a URL");
        throw new Error(`cannot be read: ${error.cause instanceof Error ? error.cause.message : error.message}`);
    });
    if (/^\s*<(?:!doctype|html|\?xml)/i.test(text))
        throw new Error("is a web page, not a manifest; use the URL of the file itself");
    try {
        return objectsIn(text, namespace);
    } catch (error) {
        const allowed = "YAML objects with apiVersion, kind and metadata.name";
        throw new Error(`is not a manifest: ${(error as Error).message}; allowed: ${allowed}`);
    }
}

export const isUrl = (location: string) => /^https?:/i.test(location);

/** @throws Error if it cannot be read */
export async function textOf(location: string): Promise<string> {
    if (!isUrl(location)) return readFile(location, "utf8");
    const response = await download(location, { signal: AbortSignal.timeout(fetchTimeoutMs) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response.text();
}

/** @throws Error with all mistakes, each with its line */
function objectsIn(text: string, namespace?: string): ManifestObject[] {
    const { documents, placeOf } = readYaml(text);
    const mistakes: string[] = [];
    const seen = new Map<string, Place>();
    const found = documents.flatMap((document) => (document === null ? [] : itemsOf(document, placeOf)));
    for (const { object, place } of found) {
        const mistake = mistakeOf(object) ?? duplicateOf(object as ManifestObject, place);
        if (mistake !== undefined) mistakes.push(`${shown(place)}: ${mistake}`);
    }
    if (mistakes.length > 0) throw new Error(mistakes.join("; "));
    return found.map(({ object }) => object as ManifestObject);

    function duplicateOf({ apiVersion, kind, metadata }: ManifestObject, place: Place): string | undefined {
        const group = apiVersion.includes("/") ? apiVersion.replace(/\/.*/, "") : "";
        const identity = [group, kind, metadata.namespace ?? namespace, metadata.name].join("/");
        const first = seen.get(identity);
        seen.set(identity, first ?? place);
        return first && `${kind} ${metadata.name} occurs twice, first in line ${first.line}`;
    }
}

/**
 * The objects of a document: of a list, its items. Those of a list such as RoleList need no kind
 * (https://github.com/kubernetes/apimachinery/blob/v0.34.4/pkg/apis/meta/v1/unstructured/helpers.go#L475-L512).
 */
function itemsOf(
    document: unknown,
    placeOf: (mapping: unknown) => Place | undefined,
    around: Place = { line: 1, column: 1 },
): { object: unknown; place: Place }[] {
    const place = placeOf(document) ?? around;
    const { apiVersion, kind, items } = isMapping(document) ? document : {};
    if (items === undefined || typeof kind !== "string" || !kind.endsWith("List")) return [{ object: document, place }];
    return [items ?? []].flat().flatMap((item: unknown) => {
        if (isMapping(item) && !item.kind && !item.apiVersion)
            Object.assign(item, { apiVersion, kind: kind.slice(0, -"List".length) });
        return itemsOf(item, placeOf, place);
    });
}

/** What Kubernetes takes of no kind of object. */
function mistakeOf(object: unknown): string | undefined {
    if (!isMapping(object)) return `this is ${described(object)}, not an object`;
    const { apiVersion, kind } = object;
    const metadata = isMapping(object.metadata) ? object.metadata : {};
    if (!metadata.name && metadata.generateName)
        return "metadata.generateName would make another object in each update; set metadata.name";
    const required = { apiVersion, kind, "metadata.name": metadata.name };
    const [missing] =
        Object.entries(required).find(([, value]) => [undefined, null, ""].includes(value as string)) ?? [];
    if (missing !== undefined) return `${missing} is missing`;
    const texts = { ...required, "metadata.namespace": metadata.namespace };
    for (const field of ["labels", "annotations"]) {
        const values = metadata[field] ?? {};
        if (!isMapping(values)) return `metadata.${field} is ${described(values)}, not a mapping`;
        for (const [key, value] of Object.entries(values))
            Object.assign(texts, { [`metadata.${field}.${key}`]: value });
    }
    const other = Object.entries(texts).find(
        ([, value]) => !["string", "undefined"].includes(typeof (value ?? undefined)),
    );
    if (other !== undefined) return `${other[0]} is ${described(other[1])}, not text; text may need quotes`;
    // Kubernetes takes an empty namespace, and labels or annotations without a value, for none.
    for (const field of ["namespace", "labels", "annotations"]) if (!metadata[field]) delete metadata[field];
    try {
        JSON.stringify(object);
    } catch {
        return "an anchor contains itself";
    }
    return undefined;
}

function described(value: unknown): string {
    if (value === null) return "null";
    if (Array.isArray(value)) return "a list";
    return typeof value === "object" ? "a mapping" : typeof value === "string" ? "text" : `a ${typeof value}`;
}

import { CORE_SCHEMA, loadAll } from "js-yaml";
import { readFile } from "node:fs/promises";
import { download } from "../../toolchain/download";

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
 * Reads the objects of a manifest.
 *
 * @param location path or URL
 * @throws Error whose message completes "it …". It does not quote the manifest, which may contain a key
 */
export async function readObjects(location: string): Promise<ManifestObject[]> {
    const text = await textOf(location).catch((error: Error) => {
        throw new Error(`cannot be read: ${error.cause instanceof Error ? error.cause.message : error.message}`);
    });
    const objects = parse(text);
    if (objects === undefined)
        throw new Error("is not a manifest; allowed: YAML objects with apiVersion, kind and metadata.name");
    return objects;
}

export const isUrl = (location: string) => /^https?:/.test(location);

/** @throws Error if it cannot be read */
export async function textOf(location: string): Promise<string> {
    if (!isUrl(location)) return readFile(location, "utf8");
    const response = await download(location, { signal: AbortSignal.timeout(fetchTimeoutMs) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response.text();
}

/** The manifest's objects; undefined if it is invalid. Hides the parser's message, which may quote the manifest. */
function parse(text: string): ManifestObject[] | undefined {
    try {
        const documents = (
            loadAll(text, undefined, { schema: CORE_SCHEMA }) as (Partial<ManifestObject> | null)[]
        ).filter((document) => document !== null);
        const objects = documents.flatMap((document) =>
            document.kind === "List" ? (document.items as Partial<ManifestObject>[]) : [document],
        );
        return objects.every((object) => object?.apiVersion && object.kind && object.metadata?.name)
            ? (objects as ManifestObject[])
            : undefined;
    } catch {
        return undefined;
    }
}

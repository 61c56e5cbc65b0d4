/**
 * Lets through what the Job reads of an API server's answer, piece by piece as it comes. Anybody may put a megabyte
 * into each object of a namespace: neither a list nor an object is in memory as a whole.
 */

/** The keys that lead to a field, without indexes of arrays: `["spec", "containers", "env"]`. */
type Path = readonly string[];

/** Of a NetworkPolicy. Read where policies are compared: see `isReadWithRules`. */
const rules = ["ingress", "egress"];

/** Fields that may be large, and that the Job does not read: rules only where policies are compared. */
const unread = new Set([
    ...["template", "volumes", "affinity", "tolerations", ...rules].map((key) => `spec.${key}`),
    "binaryData",
]);

/** All that is read of a pod's containers: an account that creates pods may put a megabyte into anything else. */
const ofContainers = [
    ["name"],
    ["image"],
    ["ports"],
    ["restartPolicy"],
    ...["readinessProbe", "livenessProbe", "startupProbe"].flatMap((probe) =>
        ["httpGet", "tcpSocket", "grpc"].flatMap((how) => ["port", "host"].map((key) => [probe, how, key])),
    ),
];

function isOfContainers([spec, list, ...path]: Path): boolean {
    if (spec !== "spec" || !["containers", "initContainers", "ephemeralContainers"].includes(list!)) return true;
    return ofContainers.some((read) => path.every((key, index) => index >= read.length || key === read[index]));
}

const isOwn = /^chaos-experiments\//;
const isKubectls = /^kubectl\.kubernetes\.io\/last-applied-configuration$/;

/** The key of an annotation. Undefined if it is something else. */
const annotationIn = (path: Path) =>
    path.length === 3 && path[0] === "metadata" && path[1] === "annotations" ? path[2] : undefined;

/** Whether a field of an object is read that the Job changes or restores. */
export function isReadOfOne(path: Path): boolean {
    const annotation = annotationIn(path);
    if (annotation !== undefined) return isOwn.test(annotation) || isKubectls.test(annotation);
    return !unread.has(path.join(".")) && isOfContainers(path);
}

/** Whether a field of a listed object is read. What restoring needs besides is read later, from the one object. */
export const isReadOfMany = (path: Path): boolean =>
    isReadOfOne(path) && !isKubectls.test(annotationIn(path) ?? "") && path.join(".") !== "metadata.managedFields";

/** The same, and the rules of NetworkPolicies. */
export const isReadWithRules = (path: Path): boolean =>
    isReadOfMany(path) || (path.length === 2 && path[0] === "spec" && rules.includes(path[1]!));

/** Reads the JSON of one answer: an object, or a list of them. */
export class Sieve {
    /** What is kept and was not handed on yet. */
    private text = "";
    private beforeItems = "";
    /** For each object or array that is open: the last key of the object; undefined for an array. */
    private readonly open: (string | undefined)[] = [];
    private isKeyNext = false;
    private isInString = false;
    private isEscaped = false;
    /** What has come of the key that comes. */
    private key?: string;
    /** How much was kept before the key. */
    private keptBefore = 0;
    /** How many were open where something began that is not read. */
    private skippedIn?: number;

    constructor(private readonly isRead: (path: Path) => boolean) {}

    /** @returns the items of a list that are complete by now, as JSON */
    push(chunk: string): string[] {
        const items: string[] = [];
        let from = 0;
        const keep = (to: number) => {
            if (this.skippedIn === undefined) this.text += chunk.slice(from, to);
            from = to;
        };
        const stopSkipping = (at: number) => {
            if (this.skippedIn !== this.open.length) return false;
            this.skippedIn = undefined;
            from = at;
            return true;
        };
        for (let at = 0; at < chunk.length; at++) {
            if (this.isInString) {
                at = this.readString(chunk, at);
                continue;
            }
            switch (chunk[at]) {
                case '"':
                    this.isInString = true;
                    this.key = this.isKeyNext ? "" : undefined;
                    if (!this.isKeyNext) break;
                    keep(at);
                    this.keptBefore = this.text.length;
                    break;
                case ":":
                    this.isKeyNext = false;
                    if (this.skippedIn !== undefined || this.isRead(this.path)) break;
                    keep(at + 1);
                    this.text = this.text.slice(0, this.keptBefore);
                    this.skippedIn = this.open.length;
                    break;
                case "{":
                case "[":
                    if (this.isAmongItems) {
                        keep(at);
                        this.beforeItems ||= this.text;
                        this.text = "";
                    }
                    this.open.push(chunk[at] === "{" ? "" : undefined);
                    this.isKeyNext = chunk[at] === "{";
                    break;
                case "}":
                case "]":
                    // What was kept last may have had something after it.
                    if (stopSkipping(at)) this.text = this.text.replace(/,\s*$/, "");
                    this.open.pop();
                    this.isKeyNext = false;
                    if (!this.isAmongItems) break;
                    keep(at + 1);
                    items.push(this.text);
                    this.text = "";
                    break;
                case ",":
                    stopSkipping(at + 1);
                    this.isKeyNext = this.open.at(-1) !== undefined;
                    // The one between two items is part of neither.
                    if (this.isAmongItems) from = at + 1;
                    break;
                default:
            }
        }
        keep(chunk.length);
        return items;
    }

    /** All but the items, as JSON, once everything has come. */
    get rest(): string {
        return this.beforeItems + this.text;
    }

    private get path(): Path {
        const keys = this.open.filter((key) => key !== undefined);
        return keys[0] === "items" ? keys.slice(1) : keys;
    }

    private get isAmongItems(): boolean {
        return this.open.length === 2 && this.open[0] === "items" && this.open[1] === undefined;
    }

    /** @returns where the string ends, or the chunk */
    private readString(chunk: string, from: number): number {
        let at = from;
        while (at < chunk.length) {
            if (!this.isEscaped) at = next(chunk, at);
            if (!this.isEscaped && chunk[at] !== "\\") break;
            this.isEscaped = !this.isEscaped;
            at++;
        }
        if (this.key !== undefined) this.key += chunk.slice(from, at);
        if (at === chunk.length) return at;
        this.isInString = false;
        if (this.key !== undefined) this.open[this.open.length - 1] = this.key;
        return at;
    }
}

/** Where the next quote or backslash is. The length of the text if there is none. */
function next(text: string, from: number): number {
    const special = /["\\]/g;
    special.lastIndex = from;
    return special.exec(text)?.index ?? text.length;
}

/**
 * Fields of `spec` that actions set until the run is undone, for the update and the Job.
 *
 * The value from before the run is in a label. Kubernetes copies a Deployment's annotations to its ReplicaSets, and
 * `kubectl rollout undo` copies them back, after the run, too (`SetNewReplicaSetAnnotations` and
 * `SetDeploymentAnnotationsTo` of its deployment controller); it copies labels to no object. The label names the field,
 * so no list of what actions set is needed to restore it.
 */
import { isDeepStrictEqual } from "node:util";
import type { Cluster } from "./client";
import { setterOf } from "./field-owners";
import { labels } from "./labels";
import { lend, type Loan, type Note, type Notes, valueIn } from "./lend";
import type { KubeObject, NamedObject, ObjectReference } from "./resources";
import { wordOf } from "../values/quoted";

/** The value of a field. Undefined if the object does not have it. */
type Value = number | boolean | undefined;

const fieldsSetIn = ({ metadata }: KubeObject): string[] =>
    Object.keys(metadata?.labels ?? {}).flatMap((key) =>
        key.startsWith(labels.set) ? key.slice(labels.set.length) : [],
    );

/** Notes in a label of each field, and one with the run. They do not say whose the field was. */
function notesOf(field: string): Notes<Value> {
    const key = `${labels.set}${field}`;
    return {
        read({ metadata }) {
            const noted = metadata?.labels?.[key];
            if (noted === undefined) return undefined;
            const { uid, ...setting } = readNote(noted) ?? {};
            // It may be another object's, copied with its manifest.
            return { run: metadata!.labels![labels.setBy], ...(uid === metadata!.uid && setting) };
        },
        written: ({ metadata }, { run, ...setting }) => ({
            labels: { [key]: textOfNote(field, setting, metadata!.uid!), [labels.setBy]: run },
        }),
        erased: (object) => ({
            labels: { [key]: null, ...(fieldsSetIn(object).length === 1 && { [labels.setBy]: null }) },
        }),
    };
}

/** What a run has set, and what was there before its first action. */
type Setting = Pick<Partial<Note<Value>>, "before" | "set">;

const words: Readonly<Record<string, Value>> = { none: undefined, true: true, false: false };
const number = String.raw`m?\d+(?:\.\d+)?(?:em?\d+)?`;
const noted = new RegExp(`^(${number}|true|false|none)-(${number}|true|false)-(.+)$`);

/** A label may not begin with the sign of a negative number. */
const textOf = (value: Value): string => String(value ?? "none").replaceAll("-", "m");
const valueOf = (text: string): Value => (text in words ? words[text] : Number(text.replaceAll("m", "-")));

function readNote(note: string): (Setting & { uid: string }) | undefined {
    const [, before, set, uid] = noted.exec(note) ?? [];
    return uid === undefined ? undefined : { before: valueOf(before!), set: valueOf(set!), uid };
}

/** @throws Error if a value would not be restored as it is, such as a text */
function textOfNote(field: string, { before, set }: Setting, uid: string): string {
    const note = `${textOf(before)}-${textOf(set)}-${uid}`;
    if (isDeepStrictEqual(readNote(note), { before, set, uid })) return note;
    const values = `from ${JSON.stringify(before) ?? "no value"} to ${JSON.stringify(set)}`;
    throw new Error(`${field} cannot be set ${values} and restored; allowed: numbers, true, false and no value before`);
}

/**
 * Whether a value is the run's, or follows from it: an autoscaler computes its number from the one that it finds, and
 * limits it. One that is not between the number from before and the run's, it wants for another reason.
 */
function isOfRun(object: KubeObject, field: string, { before, set }: Setting): boolean {
    const value = valueIn<Value>(object, field);
    if (value === set) return true;
    if (typeof value !== "number" || typeof before !== "number" || typeof set !== "number") return false;
    const isBetween = Math.min(before, set) < value && value < Math.max(before, set);
    return isBetween && isByAutoscaler(object, field);
}

/**
 * Whether a HorizontalPodAutoscaler has set the number: by the subresource `scale`, from the program that also reports
 * the status of Deployments. Distributions name it differently: `kube-controller-manager`, `k3s`, `kubelite`.
 */
function isByAutoscaler({ metadata }: KubeObject, field: string): boolean {
    const setter = setterOf(metadata!, field);
    const reports = (metadata!.managedFields ?? []).filter(({ subresource }) => subresource === "status");
    return setter?.subresource === "scale" && reports.some(({ manager }) => manager === setter.manager);
}

/** Why a field does not have what an action has set, or a later one of the run. Undefined if it has. */
function whyOther(kind: string, object: KubeObject, field: string, set: Value): string | undefined {
    const isKept = valueIn<Value>(object, field) === (notesOf(field).read(object)?.set ?? set);
    return isKept ? undefined : describeField(kind, object, field);
}

/** How many replicas an object had before a run asked for more. Undefined if none did. */
export function replicasBeforeRaise(object: KubeObject): number | undefined {
    const { before, set } = notesOf("replicas").read(object) ?? {};
    return typeof before === "number" && typeof set === "number" && before < set ? before : undefined;
}

/** Says, for example, "Deployment web has 3 replicas, set by kubectl". The API server knows who has set a field. */
function describeField(kind: string, object: KubeObject, field: string, verb = "has"): string {
    const value = valueIn<Value>(object, field);
    const setter = value === undefined ? undefined : setterOf(object.metadata!, field);
    const forOne = isByAutoscaler(object, field) ? " for an autoscaler" : "";
    const by = setter && `, set by ${wordOf(setter.manager ?? "somebody")}${forOne}`;
    return `${kind} ${object.metadata!.name} ${verb} ${inWords(field, value)}${by ?? ""}`;
}

function inWords(field: string, value: Value): string {
    if (field === "replicas") return `${value} ${value === 1 ? "replica" : "replicas"}`;
    return value === undefined ? `no value for ${field}` : `${field}: ${value}`;
}

/** A field that actions set to values that the API server keeps: not to the one that it takes an absent field for. */
export function settable(field: string): Loan<Value> {
    const notes = notesOf(field);
    // This is the value from before the run, unless somebody has changed it since.
    const wanted = (object: KubeObject) => {
        const note = notes.read(object) ?? {};
        return isOfRun(object, field, note) ? note.before : valueIn<Value>(object, field);
    };
    return {
        field,
        notes,
        wanted,
        left(object, kind) {
            const { before, set } = notes.read(object) ?? {};
            if (set === undefined || wanted(object) === before) return undefined;
            const had = inWords(field, before).replace(/ replicas?$/, "");
            return `${describeField(kind, object, field, "keeps")}; before the run it had ${had}`;
        },
    };
}

/** Those fields of an object that runs have set. */
export const fieldsSet = (object: KubeObject): Loan<Value>[] => fieldsSetIn(object).map(settable);

interface Where {
    cluster: Cluster;
    namespace: string;
}

/**
 * Sets a field of an object's `spec` until the run is undone: a note on the object says what was there before.
 *
 * @param value one that the API server keeps: not the one that it takes an absent field for
 * @throws Error if the object does not exist
 */
export async function setUntilUndone(
    { cluster, namespace, run }: Where & { run: string },
    named: NamedObject,
    field: string,
    value: number | boolean,
): Promise<void> {
    const object = { ...named, namespace };
    const isThere = await lend(cluster, object, settable(field), { run, value: () => value });
    if (!isThere) throw new Error(notFound(object));
}

/** Why a field does not have what an action has set, or a later one of the run. Undefined if it has. */
export async function whyNotSet(
    { cluster, namespace }: Where,
    named: NamedObject,
    field: string,
    value: number | boolean,
) {
    const object = { ...named, namespace };
    const found = await cluster.get(object);
    return found ? whyOther(object.resource.kind, found, field, value) : notFound(object);
}

/** @throws Error that an object does not exist, if nothing was found */
export function requireFound<T>(found: T | undefined, object: ObjectReference): T {
    if (found !== undefined) return found;
    throw new Error(notFound(object));
}

const notFound = ({ resource, name, namespace }: ObjectReference): string =>
    `there is no ${resource.kind} ${name} in namespace ${namespace}`;

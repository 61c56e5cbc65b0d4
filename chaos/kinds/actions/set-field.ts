/**
 * Fields of `spec` that actions set until the run is undone: pure patches, for the update and the Job.
 *
 * The value from before the run is in a label. Kubernetes copies a Deployment's annotations to its ReplicaSets, and
 * `kubectl rollout undo` copies them back, after the run, too (`SetNewReplicaSetAnnotations` and
 * `SetDeploymentAnnotationsTo` of its deployment controller); it copies labels to no object. The label names the field,
 * so no list of what actions set is needed to restore it.
 */
import { isDeepStrictEqual } from "node:util";
import { givenBack, isOurs, type Owner, ownersOf, setterOf } from "../../cluster/field-owners";
import { labels } from "../../cluster/labels";
import type { KubeObject, Restorable } from "../../cluster/resources";
import { wordOf } from "../../values/quoted";

/** Of a field. Undefined if the object does not have it. */
type Value = number | boolean | undefined;

/** What a run has set, and what was there before its first action. */
interface Setting {
    before: Value;
    set: Value;
}

const valueIn = ({ spec }: KubeObject, field: string): Value =>
    (spec as Record<string, Value> | undefined)?.[field] ?? (field === "replicas" ? 1 : undefined);

const noteLabel = (field: string) => `${labels.set}${field}`;

const fieldsSetIn = ({ metadata }: KubeObject): string[] =>
    Object.keys(metadata?.labels ?? {}).flatMap((key) =>
        key.startsWith(labels.set) ? key.slice(labels.set.length) : [],
    );

/**
 * The setting, from the object's note. Undefined if there is no note, or it is another object's, copied with its
 * manifest.
 */
function settingOf({ metadata }: KubeObject, field: string): Setting | undefined {
    const note = metadata?.labels?.[noteLabel(field)] ?? "";
    const { uid, ...setting } = readNote(note) ?? {};
    return uid !== undefined && uid === metadata!.uid ? (setting as Setting) : undefined;
}

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
function noteOf(field: string, { before, set }: Setting, uid: string): string {
    const note = `${textOf(before)}-${textOf(set)}-${uid}`;
    if (isDeepStrictEqual(readNote(note), { before, set, uid })) return note;
    const values = `from ${JSON.stringify(before) ?? "no value"} to ${JSON.stringify(set)}`;
    throw new Error(`${field} cannot be set ${values} and restored; allowed: numbers, true, false and no value before`);
}

/**
 * The patches by which a run sets a field. The first notes the value from before, and sets the new one, by which the
 * API server takes it for this package's. The second gives it back to its owners: their next server-side apply has no
 * conflict. What had no owner stays this package's until the run is undone: the API server records changes by the
 * subresource `scale`, such as an autoscaler's, only of a field that has an owner (`skipNonAppliedManager` of
 * k8s.io/apimachinery/pkg/util/managedfields).
 *
 * @param set a value that the API server keeps: not the one that it takes an absent field for
 * @returns the next merge patch for what the object is; undefined if there is nothing to do. It throws an error if what
 *   is there could not be restored
 */
export function settingTo(field: string, set: Value, run: string): (object: KubeObject) => object | undefined {
    let owners: readonly Owner[] = [];
    return (object) => {
        const metadata = object.metadata!;
        const isSet = valueIn(object, field) === set && settingOf(object, field)?.set === set;
        if (isSet && metadata.labels![labels.setBy] === run)
            return isOurs(metadata, field) && owners.length > 0
                ? patch(object, { managedFields: givenBack(metadata, field, owners) })
                : undefined;
        owners = ownersOf(metadata, field);
        const note = noteOf(field, { before: valueWithoutRun(object, field), set }, metadata.uid!);
        return patch(object, { labels: { [noteLabel(field)]: note, [labels.setBy]: run } }, { [field]: set });
    };
}

/** The value of a field as its owners want it: from before the run, unless somebody has changed it since. */
function valueWithoutRun(object: KubeObject, field: string): Value {
    const setting = settingOf(object, field);
    return setting && isOfRun(object, field, setting) ? setting.before : valueIn(object, field);
}

/**
 * Whether a value is the run's, or follows from it: an autoscaler computes its number from the one that it finds, and
 * limits it. One that is not between the number from before and the run's, it wants for another reason.
 */
function isOfRun(object: KubeObject, field: string, { before, set }: Setting): boolean {
    const value = valueIn(object, field);
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
export function whyOther(kind: string, object: KubeObject, field: string, set: Value): string | undefined {
    const isKept = valueIn(object, field) === (settingOf(object, field)?.set ?? set);
    return isKept ? undefined : describeField(kind, object, field);
}

/** How many replicas an object had before a run asked for more. Undefined if none did. */
export function replicasBeforeRaise(object: KubeObject): number | undefined {
    const { before, set } = settingOf(object, "replicas") ?? {};
    return typeof before === "number" && typeof set === "number" && before < set ? before : undefined;
}

/** Such as "Deployment web has 3 replicas, set by kubectl", by what the API server knows of that. */
function describeField(kind: string, object: KubeObject, field: string, verb = "has"): string {
    const value = valueIn(object, field);
    const setter = value === undefined ? undefined : setterOf(object.metadata!, field);
    const forOne = isByAutoscaler(object, field) ? " for an autoscaler" : "";
    const by = setter && `, set by ${wordOf(setter.manager ?? "somebody")}${forOne}`;
    return `${kind} ${object.metadata!.name} ${verb} ${inWords(field, value)}${by ?? ""}`;
}

function inWords(field: string, value: Value): string {
    if (field === "replicas") return `${value} ${value === 1 ? "replica" : "replicas"}`;
    return value === undefined ? `no value for ${field}` : `${field}: ${value}`;
}

/** An object of which a run has set fields: each takes two patches, as setting it does. */
export const setFields: Restorable = {
    isChanged: (object) => fieldsSetIn(object).length > 0,
    runOf: ({ metadata }) => metadata?.labels?.[labels.setBy],
    next(object, _, found = object) {
        const [field, ...others] = fieldsSetIn(object);
        if (field === undefined) return undefined;
        const metadata = object.metadata!;
        const value = valueWithoutRun(object, field);
        if (value !== valueIn(object, field)) return patch(object, {}, { [field]: value ?? null });
        // An autoscaler would not have set it without the run.
        const isAsSet = valueIn(found, field) === settingOf(found, field)?.set;
        const owners = isAsSet ? ownersOf(found.metadata!, field) : [];
        return patch(object, {
            labels: { [noteLabel(field)]: null, ...(others.length === 0 && { [labels.setBy]: null }) },
            ...(isOurs(metadata, field) && { managedFields: givenBack(metadata, field, owners) }),
        });
    },
    left(object, kind) {
        const kept = fieldsSetIn(object).flatMap((field) => {
            const setting = settingOf(object, field);
            if (setting === undefined || valueWithoutRun(object, field) === setting.before) return [];
            const before = inWords(field, setting.before).replace(/ replicas?$/, "");
            return `${describeField(kind, object, field, "keeps")}; before the run it had ${before}`;
        });
        return kept.length > 0 ? kept.join(". ") : undefined;
    },
};

const patch = ({ metadata }: KubeObject, changed: object, spec?: object): object => ({
    metadata: { resourceVersion: metadata!.resourceVersion, ...changed },
    ...(spec && { spec }),
});

import type { V1Condition } from "../../values/kubernetes-types";
import * as z from "zod";
import { replicasBeforeRaise } from "../../cluster/set-field";
import { pause } from "../../values/async";
import { type KubeObject, rightsIn } from "../../cluster/resources";
import { answerOf } from "./answer";
import { foundAt, valueAt } from "./path";
import { describeLimits, limitMistakes, missOf, numberLimits, scalarMistake } from "./values";
import { type CheckKind, type CheckSettings, checkSettingsSchema } from "./check-kind";
import { type Mistake, notAllowed, together } from "../../values/texts";
import { type CheckedObject, readObject } from "./object";
import { requireNamespace } from "./references";
import { few, maxNamed, wordOf } from "../../values/quoted";

/** Reads a Kubernetes object: one of its conditions, or one of its fields. */
export interface ConditionCheck extends CheckSettings {
    kind: "condition";
    /** The object. A Secret is refused. */
    of: CheckedObject;
    /** Type of a condition in `status.conditions`, such as `Available`. This or `field` is required. */
    type?: string;
    /** Required status of the condition. @default "True" */
    status?: "True" | "False" | "Unknown";
    /** Path of a field, such as `status.readyReplicas`; at most 1000 characters. Excludes `type`. */
    field?: string;
    /** The least good value of the field. It needs at least one limit, or `equals`. @default no limit */
    atLeast?: number;
    /** The greatest good value of the field. @default no limit */
    atMost?: number;
    /** The exact value of the field. Excludes the limits. */
    equals?: string | number | boolean;
    /** What a missing field counts as: Kubernetes leaves out many that are 0. @default a missing field is bad */
    ifMissing?: string | number | boolean;
}

const scalar = z.union([z.string(), z.number(), z.boolean()], { error: scalarMistake });
const text = z.string().trim().min(1).max(253);
// It is a part of a path of the API server, which has the same rule.
const objectName = text.refine((name) => !/^\.{1,2}$|[/%]/.test(name), {
    error: notAllowed("text without / and %", "the name of an object"),
});

export const condition: CheckKind<ConditionCheck> = {
    examples: [
        {
            kind: "condition",
            of: { apiVersion: "apps/v1", kind: "Deployment", name: "OBJECT", namespace: "check" },
            type: "Available",
        },
    ],
    schema: z
        .strictObject({
            kind: z.literal("condition"),
            of: z.strictObject({
                apiVersion: z.string().regex(/^(?:[a-z0-9.-]+\/)?v[a-z0-9]+$/, {
                    error: "not an apiVersion; allowed: a version such as v1, or a group and a version such as apps/v1",
                }),
                kind: z
                    .string()
                    .regex(/^[A-Z][A-Za-z0-9]*$/, { error: "not a kind; allowed: a name such as Deployment" })
                    .refine((kind) => kind !== "Secret", {
                        error: "Secrets are not read: the state and journals would show their content",
                    }),
                name: objectName,
                namespace: objectName.optional(),
            }),
            type: text.optional(),
            status: z.enum(["True", "False", "Unknown"]).optional(),
            field: z
                .string()
                .trim()
                .min(1)
                .max(1_000)
                // JSONPath, and kubectl's.
                .regex(/^[^$.{]/, { error: notAllowed("as in status.readyReplicas", "a path") })
                .optional(),
            ...numberLimits,
            equals: scalar.optional(),
            ifMissing: scalar.optional(),
            ...checkSettingsSchema,
        })
        .superRefine(...together<ConditionCheck>(mistakesIn)),
    name: ({ of, type, field }) => `${type ?? field} of ${of.kind} ${of.name}`,
    describeSuccess: ({ of, type, status = "True", field, ...limits }) => {
        const wanted = type === undefined ? describeLimits(limits) : status;
        return `checks found ${type ?? field} of ${of.kind} ${of.name} to be ${wanted}`;
    },
    // It is not required, since only the cluster knows the plural of a kind, and whether it has namespaces.
    rights: ({ of: { apiVersion, kind, name, namespace } }, { defaultNamespace }) =>
        rightsIn(clusterWide.has(kind) ? undefined : (namespace ?? defaultNamespace))(
            "get",
            { apiGroup: apiVersion.includes("/") ? apiVersion.split("/")[0] : "", resource: pluralOf(kind) },
            name,
        ).to("read the object of a condition check", "the check sees nothing, and the run is ABORTED"),
    probe(check, { cluster, defaultNamespace }, timeoutMs) {
        const of = { namespace: defaultNamespace, ...check.of };
        const find = async (signal: AbortSignal) => {
            const waitUntil = performance.now() + timeoutMs / 2;
            let object = await readObject(cluster, of, signal);
            while (isBehind(check, object) && performance.now() < waitUntil) {
                await pause(lagMs, signal);
                object = await readObject(cluster, of, signal);
            }
            if (object !== undefined) return { problem: problemWith(check, object) };
            await requireNamespace(cluster, of.namespace);
            return { problem: `${of.kind} ${of.namespace}/${of.name} does not exist` };
        };
        return answerOf(find, timeoutMs, "unseen");
    },
};

/** The plural as Kubernetes forms it for its own resources. */
function pluralOf(kind: string): string {
    const name = kind.toLowerCase();
    if (name.endsWith("endpoints")) return name;
    if (/(?:s|x|ch)$/.test(name)) return `${name}es`;
    return name.replace(/(?<![aeiou])y$/, "ie") + "s";
}

/** Kubernetes' own kinds without a namespace that have conditions or fields to check. */
const clusterWide = new Set([
    ...["Namespace", "Node", "PersistentVolume", "StorageClass"],
    ...["APIService", "CustomResourceDefinition", "CertificateSigningRequest"],
]);

function mistakesIn(check: Partial<ConditionCheck>): Mistake[] {
    const { type, field, status, ifMissing, atLeast, atMost, equals } = check;
    if (type === undefined && field === undefined)
        return [{ field: "type", message: "missing; allowed: the `type` of a condition, or a `field`" }];
    if (type === undefined)
        return status === undefined
            ? limitMistakes(check)
            : [...limitMistakes(check), { field: "status", message: "is that of a condition; it needs `type`" }];
    const ofFields = Object.entries({ field, atLeast, atMost, equals, ifMissing });
    return ofFields
        .filter(([, value]) => value !== undefined)
        .map(([name]) => ({
            field: name,
            message: "excludes `type`; allowed: `type` and `status`, or `field` and its limits",
        }));
}

/** @throws UnseenError as `foundAt` */
export function problemWith(check: ConditionCheck, object: unknown): string | undefined {
    const { type, status: wanted = "True", field, ifMissing } = check;
    if (type === undefined) {
        const miss = missOf(foundAt(object, field!) ?? ifMissing, check);
        return miss && `${field} ${miss}`;
    }
    const conditions = conditionsOf(object);
    const found = conditions.find((one) => one?.type === type);
    if (!found) {
        const types = conditions.map((one) => wordOf(one?.type));
        const there = few(types, maxNamed) || "none";
        return `there is no condition ${type}; the conditions are: ${there}`;
    }
    const { status, reason } = found;
    const earlier = earlierGeneration(object, found);
    const holds = status === wanted && earlier === undefined;
    const isAvailable = type === "Available" && wanted === "True";
    if (isAvailable && isBeingRaised(object as KubeObject, holds)) return undefined;
    const why = reason ? ` (${wordOf(reason, 100)})` : "";
    const of = earlier ? ` for generation ${earlier.observed} of the object, which has generation ${earlier.now}` : "";
    return holds ? undefined : `${type} is ${wordOf(status)}${why}${of} (required: ${wanted})`;
}

/** The conditions of a custom resource may be anything. */
type Condition = Partial<V1Condition> | null;

function conditionsOf(object: unknown): Condition[] {
    const listed = valueAt(object, "status.conditions");
    return Array.isArray(listed) ? (listed as Condition[]) : [];
}

/**
 * The generation that a condition describes, and that of the object, if the object has changed since: then the
 * condition says nothing about it. `kubectl wait` has the same rule (`getObservedGeneration`).
 */
function earlierGeneration(object: unknown, condition: Condition) {
    const now = valueAt(object, "metadata.generation");
    const observed = [condition?.observedGeneration, valueAt(object, "status.observedGeneration")].find(
        (one) => typeof one === "number",
    );
    return typeof now === "number" && observed !== undefined && observed < now ? { observed, now } : undefined;
}

/** How often an object is read again whose controller has not seen its last change, in milliseconds. */
const lagMs = 100;

function isBehind({ type }: ConditionCheck, object: unknown): boolean {
    const found = type === undefined ? undefined : conditionsOf(object).find((one) => one?.type === type);
    return found !== undefined && earlierGeneration(object, found) !== undefined;
}

/** New pods may take this long to be available, in milliseconds. After that, there may be no room for them. */
const maxRaiseMs = 10_000;
/** Since when Deployments, by uid, are not `Available`. */
const raisedSince = new Map<string, number>();

/**
 * Whether a Deployment is not `Available` only because the run itself has just asked for more replicas: all those from
 * before are available. Kubernetes wants as many as `replicas` less `maxUnavailable`, which is 25% rounded down
 * (`DeploymentComplete` and `MinimumReplicasUnavailable` of its deployment controller).
 */
function isBeingRaised(object: KubeObject, isAvailable: boolean): boolean {
    const { uid = "" } = object.metadata ?? {};
    const before = replicasBeforeRaise(object);
    if (isAvailable || before === undefined) {
        raisedSince.delete(uid);
        return false;
    }
    const since = raisedSince.get(uid) ?? performance.now();
    raisedSince.set(uid, since);
    const isOnlyRaised = Number(valueAt(object, "status.availableReplicas") ?? 0) >= before;
    return isOnlyRaised && performance.now() - since <= maxRaiseMs;
}

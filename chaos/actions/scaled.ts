/**
 * Deployments that actions scale until the run is undone: pure patches, for the update and the Job.
 *
 * The number from before the run is in a label. Kubernetes copies a Deployment's annotations to its ReplicaSets, and
 * `kubectl rollout undo` copies them back, after the run, too (`SetNewReplicaSetAnnotations` and
 * `SetDeploymentAnnotationsTo` of its deployment controller); it copies labels to no object.
 */
import { givenBack, isOurs, type Owner, ownersOf, setterOf } from "../cluster/field-owners";
import { labels } from "../cluster/labels";
import type { KubeObject, Restorable } from "../cluster/resources";

const field = "replicas";

export const replicasIn = ({ spec }: KubeObject): number => (spec as { replicas?: number } | undefined)?.replicas ?? 1;

/** What a run has set, and what was there before its first action. */
interface Scaling {
    before: number;
    set: number;
}

/** By its note. Undefined if there is none, or it is of another Deployment, whose manifest somebody has copied. */
export function scalingOf({ metadata }: KubeObject): Scaling | undefined {
    const [, before, set, uid] = /^(\d+)-(\d+)-(.+)$/.exec(metadata?.labels?.[labels.scaled] ?? "") ?? [];
    return uid !== undefined && uid === metadata!.uid ? { before: Number(before), set: Number(set) } : undefined;
}

const noteOf = ({ before, set }: Scaling, uid: string) => `${before}-${set}-${uid}`;

/**
 * The patches by which a run scales a Deployment. The first notes the number from before, and sets the new one, by
 * which the API server takes it for this package's. The second gives it back to its owners: their next server-side
 * apply has no conflict.
 *
 * @returns the next merge patch for what the Deployment is; undefined if there is nothing to do
 */
export function scalingTo(set: number, run: string): (object: KubeObject) => object | undefined {
    let owners: readonly Owner[] = [];
    return (object) => {
        const metadata = object.metadata!;
        if (replicasIn(object) === set && scalingOf(object)?.set === set && metadata.labels![labels.scaledBy] === run)
            return isOurs(metadata, field)
                ? patch(object, { managedFields: givenBack(metadata, field, owners) })
                : undefined;
        owners = ownersOf(metadata, field);
        const note = noteOf({ before: numberWithoutRun(object), set }, metadata.uid!);
        return patch(object, { labels: { [labels.scaled]: note, [labels.scaledBy]: run } }, set);
    };
}

/** The number of a Deployment as its owners want it: from before the run, unless somebody has changed it since. */
function numberWithoutRun(object: KubeObject): number {
    const scaling = scalingOf(object);
    return scaling && isOfRun(object, scaling) ? scaling.before : replicasIn(object);
}

/**
 * Whether a number is the run's, or follows from it: an autoscaler computes its number from the one that it finds, and
 * limits it. One that is not between the number from before and the run's, it wants for another reason.
 */
function isOfRun(object: KubeObject, { before, set }: Scaling): boolean {
    const number = replicasIn(object);
    if (number === set) return true;
    const isBetween = Math.min(before, set) < number && number < Math.max(before, set);
    return isBetween && isByAutoscaler(object);
}

/**
 * Whether a HorizontalPodAutoscaler has set the number: by the subresource `scale`, from the program that also reports
 * the status of Deployments. Distributions name it differently: `kube-controller-manager`, `k3s`, `kubelite`.
 */
function isByAutoscaler({ metadata }: KubeObject): boolean {
    const setter = setterOf(metadata!, field);
    const reports = (metadata!.managedFields ?? []).filter(({ subresource }) => subresource === "status");
    return setter?.subresource === "scale" && reports.some(({ manager }) => manager === setter.manager);
}

/** Such as "Deployment web has 3 replicas, set by kubectl", by what the API server knows of that. */
export function describeNumber(object: KubeObject, verb = "has"): string {
    const number = replicasIn(object);
    const setter = setterOf(object.metadata!, field);
    const by = setter && `, set by ${setter.manager}${isByAutoscaler(object) ? " for an autoscaler" : ""}`;
    const replicas = `${number} ${number === 1 ? "replica" : "replicas"}`;
    return `Deployment ${object.metadata!.name} ${verb} ${replicas}${by ?? ""}`;
}

/** A Deployment that a run has scaled: it takes two patches, as scaling does. */
export const scaledDeployment: Restorable = {
    isChanged: ({ metadata }) => metadata?.labels?.[labels.scaled] !== undefined,
    runOf: ({ metadata }) => metadata?.labels?.[labels.scaledBy],
    next(object, _, found = object) {
        if (!scaledDeployment.isChanged(object)) return undefined;
        const metadata = object.metadata!;
        const number = numberWithoutRun(object);
        if (number !== replicasIn(object)) return patch(object, {}, number);
        // An autoscaler would not have set it without the run.
        const owners = replicasIn(found) === scalingOf(found)?.set ? ownersOf(found.metadata!, field) : [];
        return patch(object, {
            labels: { [labels.scaled]: null, [labels.scaledBy]: null },
            ...(isOurs(metadata, field) && { managedFields: givenBack(metadata, field, owners) }),
        });
    },
    left(object) {
        const scaling = scalingOf(object);
        if (scaling === undefined || numberWithoutRun(object) === scaling.before) return undefined;
        return `${describeNumber(object, "keeps")}; before the run it had ${scaling.before}`;
    },
};

const patch = ({ metadata }: KubeObject, changed: object, replicas?: number): object => ({
    metadata: { resourceVersion: metadata!.resourceVersion, ...changed },
    ...(replicas !== undefined && { spec: { replicas } }),
});

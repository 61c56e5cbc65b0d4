import type { V1Job, V1LabelSelector, V1ObjectMeta, V1Pod } from "../values/kubernetes-types";
import { type Cluster, unlessForbidden } from "../cluster/client";
import { runPods } from "../pods/pod-options";
import { type Labels, selects } from "../policies/selector";
import { ReasonError } from "../values/reasons";
import type { Room, StepContext } from "./contract";
import { otherResources, resources } from "../cluster/resources";

interface Selecting {
    kind: string;
    name: string;
    /** What becomes of a pod that it selects. */
    effect: string;
    selector: V1LabelSelector;
}

/**
 * Refuses labels that the experiment's `pod` gives to the run's pods and by which an object of the namespace selects
 * these: the Job's pod would be an endpoint of the application's Service, say, and fail its share of the requests. A
 * selector that selects pods without such labels, too, such as a default deny's, is no mistake.
 *
 * @throws ReasonError that names the object
 */
export async function refuseSelectedPods({ plan, cluster }: StepContext, room: Room): Promise<void> {
    const pods = podLabels(room).filter(({ given }) => Object.keys(given).length > 0);
    if (pods.length === 0) return;
    const all = await selecting(cluster, plan.namespace);
    for (const { given, own } of pods) {
        const found = all.find(({ selector }) => selects(selector, { ...own, ...given }) && !selects(selector, own));
        if (found === undefined) continue;
        const { kind, name, effect, selector } = found;
        const keys = Object.entries(given).filter(([key]) => namesKey(selector, key));
        const labels = keys.map(([key, value]) => `${key}=${value}`).join();
        throw new ReasonError(
            "attack-refused",
            `the labels of \`pod\` (${labels}) are those that ${kind} ${name} of namespace ${plan.namespace} ` +
                `selects, and the run's own pods would ${effect}`,
            `Remove one of them from pod.labels in the program, or give it another value`,
        );
    }
}

const namesKey = ({ matchLabels = {}, matchExpressions = [] }: V1LabelSelector, key: string) =>
    key in matchLabels || matchExpressions.some((one) => one.key === key);

/** The labels that `pod` gives to each of the run's pods, or a transform of the program, and its others. */
function podLabels({ job, attacks, besides = [] }: Room): { given: Labels; own: Labels }[] {
    const template = (job as V1Job | undefined)?.spec?.template;
    const pods = ([...attacks, ...besides] as V1Pod[]).filter(({ kind }) => kind === "Pod");
    return [...(template ? [template] : []), ...pods].map(({ metadata }) => {
        const entries = Object.entries(metadata?.labels ?? {});
        const isOwn = ([key]: [string, string]) => key in runPods.labels || key.startsWith("chaos-experiments/");
        return {
            given: Object.fromEntries(entries.filter((one) => !isOwn(one))),
            own: Object.fromEntries(entries.filter(isOwn)),
        };
    });
}

/** What selects pods in a namespace, as far as the account may look. */
async function selecting(cluster: Cluster, namespace: string): Promise<Selecting[]> {
    const budgets = cluster.all(otherResources.disruptionBudget, { namespace });
    const seen = await Promise.all([
        selectorsOf("Service", "get a share of its requests", cluster.all(resources.service, { namespace })),
        selectorsOf(
            "NetworkPolicy",
            "have what it allows and denies",
            cluster.all(resources.networkPolicy, { namespace }),
        ),
        selectorsOf("PodDisruptionBudget", "count as pods of the application", budgets),
        selectorsOf("ReplicaSet", "be taken for its pods", cluster.all(resources.replicaSet, { namespace })),
        selectorsOf("StatefulSet", "be taken for its pods", cluster.all(otherResources.statefulSet, { namespace })),
        selectorsOf("DaemonSet", "be taken for its pods", cluster.all(otherResources.daemonSet, { namespace })),
    ]);
    return seen.flat();
}

interface Listed {
    metadata?: V1ObjectMeta;
    spec?: { selector?: V1LabelSelector | Record<string, string>; podSelector?: V1LabelSelector };
}

async function selectorsOf(kind: string, effect: string, listing: Promise<Listed[]>): Promise<Selecting[]> {
    const found = (await unlessForbidden(listing)) ?? [];
    return found.flatMap(({ metadata, spec }) => {
        const { selector, podSelector = selector } = spec ?? {};
        // A Service without a selector selects nobody, and its own is one of labels alone.
        if (podSelector === undefined || (kind === "Service" && Object.keys(podSelector).length === 0)) return [];
        const selecting = kind === "Service" ? { matchLabels: podSelector as Record<string, string> } : podSelector;
        return [{ kind, name: metadata!.name!, effect, selector: selecting }];
    });
}

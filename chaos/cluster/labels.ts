import { parseJson } from "../values/json";

export const labels = {
    /** On a pod that an experiment attacks: the experiment's name, a dot, and the name of the attack. */
    target: "chaos-experiments/target",
    /**
     * On a target: a random value of this choice, which the attack's policies select, too. A network may notice late
     * that an earlier target has lost its labels: the next run would attack it, together with its own.
     */
    chosenBy: "chaos-experiments/chosen-by",
    /**
     * On a target once its attack's policy is there: the value of `chosenBy`. Other policies stop selecting it by that.
     * A value that somebody could know before the run would be a way out of these policies.
     */
    attacked: "chaos-experiments/attacked",
    /** On a target that other policies apply to: the number of the policy that combines them with the attack. */
    combined: "chaos-experiments/combined",
    /** On an experiment's objects: the experiment's name. */
    experiment: "chaos-experiments/experiment",
    /** On the policies that let the deadline Job work among other policies: the experiment's name. */
    witness: "chaos-experiments/witness",
    /**
     * On the run's own pods: the run's random value, by which policies let them through. A value that somebody could
     * know before the run would open a namespace's default deny to their pods, too.
     */
    pass: "chaos-experiments/pass",
    /** On the proxy of a fault, and what its Service selects meanwhile: the proxy's name. */
    proxy: "chaos-experiments/proxy",
    /**
     * `true` on the Service by which a fault's proxy finds the pods, and by that on its EndpointSlices: answers count
     * by now, so `first` and `pulse` begin.
     */
    counting: "chaos-experiments/counting",
    /** `true` on the deadline Job's pod once it has killed a pod: its annotation `killed` says which. */
    kills: "chaos-experiments/kills",
    /**
     * With the name of a field, on an object whose field an action has set: the value before, the one that the action
     * has set, and the object's uid.
     */
    set: "chaos-experiments/set.",
    /** On such an object: the run. */
    setBy: "chaos-experiments/set-by",
    /** `true` on a pod, or on a namespace with all its pods: no experiment may attack it. */
    protected: "chaos-experiments/protected",
} as const;

/** Metadata of an object that a run makes: by its label the sweep finds it. @typeParam N text, or an output of it */
export const metadataFor = <N>(name: N, { namespace, experiment }: { namespace: string; experiment: string }) => ({
    name,
    namespace,
    labels: { [labels.experiment]: experiment },
});

/** The labels of some objects, as a query of the API server selects by them. */
export const selectorOf = (wanted: Readonly<Record<string, string>>): string =>
    Object.entries(wanted)
        .map(([key, value]) => `${key}=${value}`)
        .join();

/** The labels by which an attack's policies select its targets. @typeParam N text, or an output of it */
export const targetLabels = <N>(target: string, chosenBy: N) => ({
    [labels.target]: target,
    [labels.chosenBy]: chosenBy,
});

/** The labels that a run gives its targets. */
export const runLabels = [labels.target, labels.chosenBy, labels.attacked, labels.combined] as const;

export const isProtected = (found: Readonly<Record<string, string>> = {}): boolean =>
    found[labels.protected] === "true";

/** Whether an experiment has made a NetworkPolicy: its attack, or what lets its own pods through. */
export const isExperimentPolicy = ({ metadata }: { metadata?: { labels?: Record<string, string> } }): boolean =>
    [labels.experiment, labels.witness].some((key) => key in (metadata?.labels ?? {}));

/** Whether a NetworkPolicy is one of this run: by a label, and by its name, which begins with the run's. */
export const isPolicyOfRun = (policy: { metadata?: { name?: string; labels?: Record<string, string> } }, run: string) =>
    isExperimentPolicy(policy) && policy.metadata!.name!.startsWith(`${run}-`);

/**
 * Whether a NetworkPolicy is neither of this run nor left over. Those of an earlier run may go by garbage collection, a
 * little after their owner, whose name begins with that run's, too. A label alone hides nothing: anybody can copy it.
 */
export const isOthersPolicy = (policy: OwnedPolicy, run: string): boolean =>
    !isPolicyOfRun(policy, run) &&
    !policy.metadata?.ownerReferences?.some(
        ({ kind, name }) => runOwners.includes(kind) && isPolicyOfRun(policy, name.slice(0, name.lastIndexOf("-"))),
    );

interface OwnedPolicy {
    metadata?: { name?: string; labels?: Record<string, string>; ownerReferences?: { kind: string; name: string }[] };
}

/** Types of what owns the policy that lets a deadline Job through, and the run's other policies. */
const runOwners = ["RoleBinding", "NetworkPolicy"];

/** The target label of a pod. Undefined if no experiment attacks it. */
export const targetLabelOf = ({ metadata }: { metadata?: { labels?: Record<string, string> } }): string | undefined =>
    metadata?.labels?.[labels.target];

export const experimentOf = (targetLabel: string): string => targetLabel.slice(0, targetLabel.lastIndexOf("."));

/** The name by which the API server knows which fields this package has set. */
export const fieldManager = "chaos-experiments";

export const annotations = {
    /** On a namespace's lease: when the update ended the run's attacks, as JSON. */
    ended: "chaos-experiments/ended",
    /** `true` on a namespace's lease whose run has its verdict, while the attacks stay. */
    concluded: "chaos-experiments/concluded",
    /** On a namespace's lease: the run that holds it. */
    run: "chaos-experiments/run",
    /** On a namespace's lease: the run, until its attacks may begin. Nobody was attacked while it is there. */
    notBegun: "chaos-experiments/not-begun",
    /** On a namespace's lease: to which targets the run's deadline Job keeps connections, as JSON. */
    kept: "chaos-experiments/kept",
    /** On an attack's object: its target pods, comma-separated. */
    targets: "chaos-experiments/targets",
    /** On a target: TCP ports that Services lead to and it does not declare, comma-separated, for the Job to try. */
    ports: "chaos-experiments/ports",
    /** On a target on which an Event says that its attack has begun: the run. */
    begun: "chaos-experiments/begun",
    /** On the deadline Job's pod: that it watches, and what. */
    witness: "chaos-experiments/witness",
    /** On a target, a fault's proxy, or the Job's pod: what is done, in words; for programs that show it. */
    effect: "chaos-experiments/effect",
    /**
     * On the deadline Job's pod, for programs that show it: the pods that were killed last, as JSON, by the attribute
     * of their workload, such as `k8s.deployment=hot-deals`.
     */
    killed: "chaos-experiments/killed",
    /** On a policy that a run has made stop selecting its targets: its selector before, and whose it was, as JSON. */
    exempting: "chaos-experiments/exempting",
    /** On a policy that a run has made beside those of others: what it rests on, as JSON. */
    restsOn: "chaos-experiments/rests-on",
    /** On the policy of a fault's proxy: the Service and its namespace's labels, as JSON. */
    access: "chaos-experiments/access",
    /** On a Service whose place a proxy has taken: its selector before, and whose it was, as JSON. */
    pointing: "chaos-experiments/pointing",
    /** On the pod template of a workload that an experiment has restarted: when. */
    restarted: "chaos-experiments/restarted-at",
} as const;

/** The merge patch that takes from a target what a run has given it. */
export const unlabeling = {
    metadata: {
        labels: Object.fromEntries(runLabels.map((key) => [key, null])),
        annotations: { [annotations.effect]: null, [annotations.begun]: null, [annotations.ports]: null },
    },
};
/** What an annotation says in JSON. Nothing if it is missing, or somebody has edited it. */
export function noteIn<T>(
    object: { metadata?: { annotations?: Record<string, string> } },
    annotation: string,
): Partial<T> {
    return parseJson(object.metadata?.annotations?.[annotation] ?? "") ?? {};
}

/** Labels of ours in the cluster. */
export const labels = {
    /** On a pod that an experiment attacks: the experiment's name and, after a dot, which of its attacks. */
    target: "chaos-shop/target",
    /** On the objects of an experiment: its name. */
    experiment: "chaos-shop/experiment",
    /** `true` on a pod, or on a namespace with all its pods, that no experiment may attack. */
    protected: "chaos-shop/protected",
} as const;

/** The mark on a pod that an experiment attacks; undefined on any other. */
export const targetMarkOf = ({ metadata }: { metadata?: { labels?: Record<string, string> } }): string | undefined =>
    metadata?.labels?.[labels.target];

/** The experiment that a target's mark is of. */
export const experimentOf = (mark: string): string => mark.slice(0, mark.lastIndexOf("."));

/** Annotations of ours in the cluster. */
export const annotations = {
    /** On a namespace: the stack that it is of. */
    stack: "chaos-shop/stack",
    /** On a namespace: how its objects were made, where it was not by the program. */
    install: "chaos-shop/install",
    /** On an attack's objects: the pods that it is for, comma-separated. */
    targets: "chaos-shop/targets",
    /** On the pod of a deadline's Job: that it watches, and whom. */
    witness: "chaos-shop/witness",
    /** On a Deployment that an experiment has scaled: how many pods it had, and has, as JSON. */
    scaled: "chaos-shop/scaled",
} as const;

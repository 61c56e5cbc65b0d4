export const labels = {
    /** On a pod that an experiment attacks: the experiment's name, a dot, and the name of the attack. */
    target: "chaos-shop/target",
    /** On an experiment's objects: the experiment's name. */
    experiment: "chaos-shop/experiment",
    /** `true` on a pod, or on a namespace with all its pods: no experiment may attack it. */
    protected: "chaos-shop/protected",
} as const;

/** The target label of a pod. Undefined if no experiment attacks it. */
export const targetLabelOf = ({ metadata }: { metadata?: { labels?: Record<string, string> } }): string | undefined =>
    metadata?.labels?.[labels.target];

export const experimentOf = (targetLabel: string): string => targetLabel.slice(0, targetLabel.lastIndexOf("."));

export const annotations = {
    /** On a namespace: the name of the stack that owns it. */
    stack: "chaos-shop/stack",
    /** On a namespace: the identity of that stack. Another backend may have a stack of the same name. */
    identity: "chaos-shop/identity",
    /** On a namespace: how its objects were installed, if not by the program. */
    install: "chaos-shop/install",
    /** On a namespace's lease: the plan of the run that holds it, as JSON. */
    plan: "chaos-shop/plan",
    /** On a namespace's lease: when the update ended the run's attacks, as JSON. */
    ended: "chaos-shop/ended",
    /** On a namespace's lease: the run that holds it. */
    run: "chaos-shop/run",
    /** On a namespace's lease: to which targets the run's deadline Job keeps connections, as JSON. */
    kept: "chaos-shop/kept",
    /** On an attack's object: its target pods, comma-separated. */
    targets: "chaos-shop/targets",
    /** On the deadline Job's pod: that it watches, and what. */
    witness: "chaos-shop/witness",
    /** On a Deployment that an experiment has scaled: its replicas before and since, as JSON. */
    scaled: "chaos-shop/scaled",
} as const;

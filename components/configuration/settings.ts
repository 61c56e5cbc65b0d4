import {
    agentKey,
    annotations,
    count,
    duration,
    flag,
    hosts,
    httpAddress,
    image,
    label,
    names,
    nodeLabels,
    oneOf,
    percentage,
    radius,
    type Reader,
    size,
    target,
    text,
    tolerations,
} from "./values";

/** The workloads of the shop, by the names that the cluster knows them by. */
export const workloads = [
    "gateway",
    "fashion-bestseller",
    "toys-bestseller",
    "hot-deals",
    "database",
    "orders",
    "inventory",
    "message-broker",
] as const;
export type Workload = (typeof workloads)[number];

/** One key of the stack's configuration. */
export interface Setting<T> extends Reader<T> {
    /** As a user would write it. Undefined: the setting has no default, or one that `describedDefault` tells of. */
    default?: string;
    describedDefault?: string;
    /** One sentence for people: what the setting decides. */
    meaning: string;
    /** A value that is allowed, for the command in an error; the default where there is one. */
    example?: string;
}

function setting<T>(reader: Reader<T>, rest: Omit<Setting<T>, keyof Reader<T>>): Setting<T> {
    return { ...reader, ...rest };
}

const replicas = (workload: Workload) =>
    setting(count(0, 100), {
        describedDefault: "1, or what `kubectl scale` made of it",
        meaning: `How many pods of ${workload} run.`,
        example: "3",
    });

/**
 * Every key that a stack may set, with `pulumi config set KEY VALUE`. Keys with dots are literal keys. The README's
 * table is held to this one by a test.
 */
export const settings = {
    variant: setting(oneOf("four", "seven"), {
        default: "four",
        meaning:
            "Which shop: `four` is gateway, fashion-bestseller, toys-bestseller, hot-deals and product-db; `seven` also orders, inventory and message-broker.",
    }),
    namespace: setting(label, {
        default: "demo",
        meaning:
            "Where the shop goes; created with it, at the `restricted` Pod Security level where `install` is `program`.",
    }),
    "kube.context": setting(text, {
        describedDefault: "the current context, where it is plainly local",
        meaning:
            "The kubeconfig context that the stack may touch. A cluster that is not plainly local must be named here.",
        example: "my-cluster",
    }),
    "cluster.name": setting(text, {
        describedDefault: "the stack's name",
        meaning: "What the cluster is called.",
        example: "demo-cluster",
    }),
    install: setting(oneOf("program", "chart", "manifest"), {
        default: "program",
        meaning:
            "How the shop is put there: by this program, from a chart, or from a manifest. Another one makes the namespace anew.",
    }),
    "install.timeout": setting(duration("5s", "5m"), {
        default: "5m0s",
        meaning: "How long a shop from a chart or a manifest may take to get ready.",
    }),
    "chart.repo": setting(httpAddress, {
        default: "https://steadybit.github.io/shopping-demo",
        meaning: "The chart repository that the shop's chart is in.",
    }),
    "chart.name": setting(text, {
        default: "steadybit-shopping-demo",
        meaning: "The shop's chart, where it is installed from one.",
    }),
    "chart.version": setting(text, {
        describedDefault: "the newest",
        meaning: "Version of the shop's chart.",
        example: "1.0.0",
    }),
    "chart.values": setting(text, {
        describedDefault: "none",
        meaning:
            "A values file for the shop's chart; the settings `ingress.*` come on top, as values of the same names.",
        example: "values.yaml",
    }),
    manifest: setting(text, {
        describedDefault: "none; required where the shop is installed from one",
        meaning: "Path or URL of the shop's manifest: objects of the shop's namespace, and nothing else.",
        example: "shop.yaml",
    }),
    "gateway.serviceType": setting(oneOf("LoadBalancer", "NodePort", "ClusterIP"), {
        default: "LoadBalancer",
        meaning: "How the gateway's port 80 is offered: `LoadBalancer`, `NodePort` or `ClusterIP`.",
    }),
    "gateway.addressTimeout": setting(duration("0s", "10m"), {
        describedDefault: "`15s` on a local cluster, `5m0s` elsewhere",
        meaning: "How long a new gateway is given to get its external address before the update goes on without one.",
        example: "2m",
    }),
    "ingress.hosts": setting(hosts, {
        describedDefault: "none",
        meaning: "Host names that reach the gateway by an Ingress.",
        example: "shop.example.com",
    }),
    "ingress.class": setting(label, {
        describedDefault: "the cluster's own",
        meaning: "The class of the Ingress.",
        example: "nginx",
    }),
    "ingress.tlsSecret": setting(label, {
        describedDefault: "none",
        meaning: "The Secret with the certificate for the hosts.",
        example: "shop-tls",
    }),
    "ingress.annotations": setting(annotations, {
        describedDefault: "none",
        meaning: "What the cluster's ingress controller and certificate manager are told by annotations.",
        example: "cert-manager.io/cluster-issuer=letsencrypt",
    }),
    "replicas.gateway": replicas("gateway"),
    "replicas.fashion-bestseller": replicas("fashion-bestseller"),
    "replicas.toys-bestseller": replicas("toys-bestseller"),
    "replicas.hot-deals": replicas("hot-deals"),
    "replicas.orders": replicas("orders"),
    "replicas.inventory": replicas("inventory"),
    "orders.readyTimeout": setting(duration("0s", "10m"), {
        default: "5m0s",
        meaning:
            "How long new pods of orders, inventory and message-broker are waited for before the update goes on without them.",
    }),
    "images.node": setting(image, {
        default: "docker.io/library/node:22.23.3-bookworm-slim",
        meaning: "What the shop's programs run on: Node 20 or newer.",
    }),
    "images.postgres": setting(image, {
        default: "docker.io/library/postgres:15.18-bookworm",
        meaning: "What the database runs on: a Debian-based PostgreSQL 15 or newer.",
    }),
    "images.nats": setting(image, {
        default: "docker.io/library/nats:2.9.10-alpine",
        meaning: "What the message broker runs on: NATS 2.9.10 or newer.",
    }),
    "images.pullSecrets": setting(names, {
        describedDefault: "none",
        meaning:
            "Secrets that the images are pulled with, comma-separated; each is to be in the namespace of the pods.",
        example: "registry",
    }),
    "nodes.selector": setting(nodeLabels, {
        describedDefault: "none",
        meaning: "Labels of the nodes that the shop's pods and an experiment's may run on.",
        example: "pool=demo",
    }),
    "nodes.tolerations": setting(tolerations, {
        describedDefault: "none",
        meaning: "Taints that the shop's pods and an experiment's tolerate, as `kubectl taint` writes them.",
        example: "dedicated=demo:NoSchedule",
    }),
    "database.storage": setting(size, {
        describedDefault: "none, an `emptyDir`",
        meaning: "Size of the database's PersistentVolumeClaim.",
        example: "1Gi",
    }),
    "broker.storage": setting(size, {
        describedDefault: "none, an `emptyDir`",
        meaning: "Size of the message broker's PersistentVolumeClaim.",
        example: "1Gi",
    }),
    "storage.class": setting(label, {
        describedDefault: "the cluster's default",
        meaning: "Storage class of the claims.",
        example: "standard",
    }),
    "storage.keep": setting(flag, {
        default: "true",
        meaning:
            "Whether the claims outlive the stack, with their namespace: `pulumi destroy` leaves them, and the next `pulumi up` takes them up again.",
    }),
    "shutdown.delay": setting(duration("0s", "1m"), {
        default: "0s",
        meaning:
            "How long a program that is told to stop goes on serving, until the cluster sends it no more requests: at `5s` a rolling update and an eviction lose none.",
    }),
    "agent.enabled": setting(flag, {
        default: "true",
        meaning: "Whether an agent, which discovers targets, is installed beside the shop.",
    }),
    "agent.install": setting(oneOf("builtin", "chart", "manifest"), {
        default: "builtin",
        meaning: "Which agent: this project's own, one from a chart, or one from a DaemonSet manifest.",
    }),
    "agent.key": setting(agentKey, {
        describedDefault: "none; required where the agent is enabled",
        meaning: "The agent key, a secret: set it with `--secret`.",
        example: "<AGENT_KEY>",
    }),
    "agent.namespace": setting(label, {
        describedDefault: "the shop's, with `-agent` after it",
        meaning: "Where the agent goes; created with it.",
        example: "demo-agent",
    }),
    "agent.timeout": setting(duration("5s", "5m"), {
        default: "5m0s",
        meaning: "How long an update may take to get the agent ready.",
    }),
    "agent.chart": setting(text, {
        default: "steadybit-agent",
        meaning: "The agent's chart, where it is installed from one.",
    }),
    "agent.repo": setting(httpAddress, {
        default: "https://steadybit.github.io/helm-charts",
        meaning: "The chart repository that the agent's chart is in.",
    }),
    "agent.version": setting(text, {
        describedDefault: "the newest",
        meaning: "Version of the agent's chart.",
        example: "1.0.0",
    }),
    "agent.values": setting(text, {
        describedDefault: "none",
        meaning: "A values file for the agent's chart; the key and the cluster's name come on top.",
        example: "agent-values.yaml",
    }),
    "agent.manifest": setting(text, {
        describedDefault: "none; required where the agent is installed from one",
        meaning:
            "Path or URL of the agent's DaemonSet manifest; `<AGENT_KEY>` and `<cluster_name>` in it are filled in.",
        example: "agent.yaml",
    }),
    "experiment.enabled": setting(flag, {
        default: "false",
        meaning: "Whether the experiment runs: the next update begins or undoes it.",
    }),
    "experiment.name": setting(text, { default: "hot-deals-blackhole", meaning: "One of the saved experiments." }),
    "experiment.area": setting(
        { allowed: "Global, or a namespace", read: (area: string) => (area === "Global" ? area : label.read(area)) },
        { default: "Global", meaning: "Where targets are looked for: everything discovered, or one namespace." },
    ),
    "experiment.target": setting(target, {
        describedDefault: "the saved experiment's, in the shop's namespace",
        meaning: "Attributes of the containers to attack, where the experiment has one attack.",
        example: "k8s.deployment=hot-deals,k8s.namespace=demo",
    }),
    "experiment.radius": setting(radius, {
        describedDefault: "the saved experiment's, else 1",
        meaning: "Containers affected at most by each attack: a number, a percentage of those that match, or `all`.",
        example: "1",
    }),
    "experiment.attack": setting(oneOf("blackhole", "dns", "kill"), {
        describedDefault: "the saved experiment's",
        meaning:
            "What is done to the targets, where the experiment has one attack: `blackhole` cuts them off the network, `dns` takes name resolution from them, `kill` deletes their pods again and again.",
        example: "blackhole",
    }),
    "experiment.duration": setting(duration("1s", "1h"), {
        default: "30s",
        meaning: "How long the checks look, the grace aside.",
    }),
    "experiment.interval": setting(duration("20ms", "1m"), {
        default: "1s",
        meaning: "How often a check looks that says nothing of its own.",
    }),
    "experiment.timeout": setting(duration("100ms", "1m"), {
        default: "5s",
        meaning: "How long an answer may take to a check that says nothing of its own.",
    }),
    "experiment.grace": setting(duration("0s", "10m"), {
        default: "15s",
        meaning: "How long answers are not counted after the attack began, while the cluster reroutes.",
    }),
    "experiment.successRate": setting(percentage, {
        default: "100%",
        meaning: "The share of good answers that a check asks for that says nothing of its own.",
    }),
    "experiment.deadline": setting(duration("10s", "24h"), {
        default: "10m",
        meaning: "After this the attack ends by itself, whatever became of the update that began it.",
    }),
    "experiment.onFailure": setting(oneOf("report", "fail"), {
        default: "report",
        meaning:
            "`report`: the verdict is an output. `fail`: a verdict other than PASSED fails the update, once the attack is undone and the shop is whole.",
    }),
    "experiment.run": setting(text, { default: "1", meaning: "Any text; change it to run the experiment again." }),
} satisfies Record<string, Setting<unknown>>;

export type Key = keyof typeof settings;
export type ReadAs<K extends Key> = (typeof settings)[K] extends Setting<infer T> ? T : never;

import { plainAttackKinds } from "../../chaos/attacks/registry";
import type { CheckSettings } from "../../chaos/checks/kind";
import { times } from "../../chaos/times";
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

/** The shop's workloads whose number of pods a stack may set. */
export const scalableWorkloads = [
    "gateway",
    "fashion-bestseller",
    "toys-bestseller",
    "hot-deals",
    "orders",
    "inventory",
] as const;
export type ScalableWorkload = (typeof scalableWorkloads)[number];

/** One key of the stack's configuration. */
export interface Setting<T> extends Reader<T> {
    /** As a user writes it. Undefined if the setting has no default, or one that only words describe. */
    default?: string;
    /** For documentation, if there is no `default`. @default "none" */
    describedDefault?: string;
    /** What the setting decides, for documentation. */
    meaning: string;
    /** A valid value for the command in an error. @default the setting's default */
    example?: string;
    /** What heeds it, of the ways to install the shop. Setting it with another one is a mistake. @default all */
    heededBy?: readonly Install[];
    /** Whether the shop's rendered objects depend on it. @default true */
    isRendered?: boolean;
    /** The settings that the documentation has it with. */
    group?: Title;
}

const installs = ["program", "chart", "manifest"] as const;
export type Install = (typeof installs)[number];

function setting<T>(reader: Reader<T>, rest: Omit<Setting<T>, keyof Reader<T> | "group">): Setting<T> {
    return { ...reader, ...rest };
}

/** A chart or a manifest has its own way to say this. */
const heededBy: readonly Install[] = ["program"];

export interface Group {
    /** What a reader should know before the table. @default nothing */
    intro?: string;
    /** Of its settings, unless one says otherwise. */
    common?: Pick<Setting<unknown>, "heededBy" | "isRendered">;
}

/** Settings that are read together, by title. */
export const groups = {
    Shop: {},
    Cluster: {
        intro:
            "A stack touches only the cluster that it names, or one that is local by its kubeconfig context's\n" +
            "name and by its API server's address.",
        common: { isRendered: false },
    },
    "How the shop is installed": {
        intro: "See [Installing](installing.md#three-ways-to-install).",
        common: { isRendered: false },
    },
    Network: {},
    Pods: { intro: "How many pods run, on which nodes, from which images, and how they start and stop." },
    Storage: {
        intro: "A claim is a PersistentVolumeClaim. Without one, data is lost with its pod.",
        common: { heededBy },
    },
    Agent: { intro: "See [The agent](agent.md).", common: { isRendered: false } },
    Experiment: { intro: "See [Experiments](experiments.md).", common: { isRendered: false } },
} satisfies Record<string, Group>;
type Title = keyof typeof groups;

function group<T extends Record<string, Setting<unknown>>>(title: Title, entries: T): T {
    const { common }: Group = groups[title];
    const all = Object.entries(entries).map(([key, each]) => [key, { ...common, ...each, group: title }]);
    return Object.fromEntries(all) as T;
}

const replicas = (workload: ScalableWorkload) =>
    setting(count(0, 100), {
        describedDefault: "1, or as set by `kubectl scale`",
        meaning: `Number of ${workload} pods.`,
        example: "3",
        heededBy,
    });

/**
 * Every key that a stack may set with `pulumi config set KEY VALUE`. A dot is part of the key, not a path.
 * docs/settings.md is made from this.
 */
export const settings = {
    ...group("Shop", {
        variant: setting(oneOf("four", "seven"), {
            default: "four",
            meaning:
                "The shop's workloads. `four`: gateway, fashion-bestseller, toys-bestseller, hot-deals and " +
                "database. `seven` adds orders, inventory and message-broker.",
        }),
        namespace: setting(label, {
            default: "demo",
            meaning:
                "The shop's namespace, created with it. It has the `restricted` Pod Security level if `install` is " +
                "`program`.",
        }),
    }),
    ...group("Cluster", {
        "kube.context": setting(text, {
            describedDefault: "the current context, if it is plainly local",
            meaning: "The kubeconfig context that the stack may touch. Required unless the cluster is plainly local.",
            example: "my-cluster",
        }),
        "cluster.name": setting(text, {
            describedDefault: "the stack's name",
            meaning: "The cluster's name, for the agent and the attribute `k8s.cluster-name`.",
            example: "demo-cluster",
        }),
    }),
    ...group("How the shop is installed", {
        install: setting(oneOf(...installs), {
            default: "program",
            meaning:
                "What installs the shop: this program, a chart, or a manifest. Changing it recreates the namespace.",
        }),
        "install.timeout": setting(duration({ least: "5s", most: "5m" }), {
            default: "5m0s",
            meaning: "Maximum time for a shop from a chart or a manifest to become ready.",
        }),
        "chart.repo": setting(httpAddress, {
            default: "https://steadybit.github.io/shopping-demo",
            meaning: "The repository of the shop's chart.",
        }),
        "chart.name": setting(text, {
            default: "steadybit-shopping-demo",
            meaning: "The shop's chart, if `install` is `chart`.",
        }),
        "chart.version": setting(text, {
            describedDefault: "the newest",
            meaning: "Version of the shop's chart.",
            example: "1.0.0",
        }),
        "chart.values": setting(text, {
            meaning:
                "A values file for the shop's chart, whose values are kept secret. The settings `ingress.*` override " +
                "it, as values of the same names.",
            example: "values.yaml",
        }),
        manifest: setting(text, {
            describedDefault: "none; required if `install` is `manifest`",
            meaning: "Path or URL of the shop's manifest. It may contain only objects of the shop's namespace.",
            example: "shop.yaml",
        }),
    }),
    ...group("Network", {
        "gateway.serviceType": setting(oneOf("LoadBalancer", "NodePort", "ClusterIP"), {
            default: "LoadBalancer",
            meaning:
                "Type of the gateway's Service, which listens on port 80: `LoadBalancer`, `NodePort` or `ClusterIP`.",
            heededBy,
        }),
        "gateway.addressTimeout": setting(duration({ least: "0s", most: "10m" }), {
            describedDefault: "`15s` on a local cluster, otherwise `5m0s`",
            meaning: "How long an update waits for a new gateway's external address before it continues without one.",
            example: "2m",
            isRendered: false,
        }),
        "ingress.hosts": setting(hosts, {
            meaning: "Host names that an Ingress routes to the gateway.",
            example: "shop.example.com",
            heededBy: ["program", "chart"],
        }),
        "ingress.class": setting(label, {
            describedDefault: "the cluster's default",
            meaning: "The Ingress class.",
            example: "nginx",
            heededBy: ["program", "chart"],
        }),
        "ingress.tlsSecret": setting(label, {
            meaning: "The Secret with the TLS certificate for the hosts.",
            example: "shop-tls",
            heededBy: ["program", "chart"],
        }),
        "ingress.annotations": setting(annotations, {
            meaning: "Annotations of the Ingress, for the cluster's ingress controller and certificate manager.",
            example: "cert-manager.io/cluster-issuer=letsencrypt",
            heededBy: ["program", "chart"],
        }),
        networkPolicies: setting(flag, {
            default: "true",
            meaning:
                "Whether NetworkPolicies deny the shop's pods and the builtin agent's all traffic that they do not " +
                "need. See [who may talk to whom](shop.md#who-may-talk-to-whom).",
        }),
    }),
    ...group("Pods", {
        "replicas.gateway": replicas("gateway"),
        "replicas.fashion-bestseller": replicas("fashion-bestseller"),
        "replicas.toys-bestseller": replicas("toys-bestseller"),
        "replicas.hot-deals": replicas("hot-deals"),
        "replicas.orders": replicas("orders"),
        "replicas.inventory": replicas("inventory"),
        "orders.readyTimeout": setting(duration({ least: "0s", most: "10m" }), {
            default: "5m0s",
            meaning:
                "How long an update waits for new pods of orders, inventory and message-broker before it continues " +
                "without them.",
            isRendered: false,
        }),
        "images.node": setting(image, {
            default: "docker.io/library/node:22.23.3-bookworm-slim",
            meaning: "Image for the shop's programs: Node 20 or newer.",
        }),
        "images.postgres": setting(image, {
            default: "docker.io/library/postgres:15.18-bookworm",
            meaning: "Image for the database: a Debian-based PostgreSQL 15 or newer.",
            heededBy,
        }),
        "images.nats": setting(image, {
            default: "docker.io/library/nats:2.9.10-alpine",
            meaning: "Image for the message broker: NATS 2.9.10 or newer.",
            heededBy,
        }),
        "images.pullSecrets": setting(names, {
            meaning: "Image pull Secrets, comma-separated. Each must exist in the namespace of the pods.",
            example: "registry",
        }),
        "nodes.selector": setting(nodeLabels, {
            meaning: "Node labels that the pods of the shop and of experiments require.",
            example: "pool=demo",
        }),
        "nodes.tolerations": setting(tolerations, {
            meaning:
                "Taints that the pods of the shop and of experiments tolerate, in the notation of `kubectl taint`.",
            example: "dedicated=demo:NoSchedule",
        }),
        "shutdown.delay": setting(duration({ least: "0s", most: "1m" }), {
            default: "0s",
            meaning:
                "How long a stopping program keeps serving while the cluster removes it from its Services. `5s` " +
                "avoids failed requests during rolling updates and evictions.",
            heededBy,
        }),
    }),
    ...group("Storage", {
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
            meaning: "StorageClass of the PersistentVolumeClaims.",
            example: "standard",
        }),
        "storage.keep": setting(flag, {
            default: "true",
            meaning:
                "Whether `pulumi destroy` keeps the PersistentVolumeClaims and their namespace. The next `pulumi up` " +
                "uses them again.",
            isRendered: false,
        }),
    }),
    ...group("Agent", {
        "agent.enabled": setting(flag, {
            default: "true",
            meaning: "Whether the stack includes an agent, which discovers targets.",
        }),
        "agent.install": setting(oneOf("builtin", "chart", "manifest"), {
            default: "builtin",
            meaning: "What installs the agent: this project (`builtin`), a chart, or a DaemonSet manifest.",
        }),
        "agent.key": setting(agentKey, {
            describedDefault: "none; required if the agent is enabled",
            meaning: "The agent key, a secret. Set it with `--secret`.",
            example: "<AGENT_KEY>",
        }),
        "agent.namespace": setting(label, {
            describedDefault: "the shop's, followed by `-agent`",
            meaning: "The agent's namespace, created with it.",
            example: "demo-agent",
        }),
        "agent.timeout": setting(duration({ least: "5s", most: "5m" }), {
            default: "5m0s",
            meaning: "Maximum time for the agent to become ready.",
        }),
        "agent.chart": setting(text, {
            default: "steadybit-agent",
            meaning: "The agent's chart, if `agent.install` is `chart`.",
        }),
        "agent.repo": setting(httpAddress, {
            default: "https://steadybit.github.io/helm-charts",
            meaning: "The repository of the agent's chart.",
        }),
        "agent.version": setting(text, {
            describedDefault: "the newest",
            meaning: "Version of the agent's chart.",
            example: "1.0.0",
        }),
        "agent.values": setting(text, {
            meaning:
                "A values file for the agent's chart, whose values are kept secret. The key and the cluster's name " +
                "override it.",
            example: "agent-values.yaml",
        }),
        "agent.manifest": setting(text, {
            describedDefault: "none; required if `agent.install` is `manifest`",
            meaning:
                "Path or URL of the agent's DaemonSet manifest. Its placeholders `<AGENT_KEY>` and `<cluster_name>` " +
                "are replaced.",
            example: "agent.yaml",
        }),
    }),
    ...group("Experiment", {
        "experiment.enabled": setting(flag, {
            default: "false",
            meaning: "Whether the experiment runs. The next update starts or undoes it.",
        }),
        "experiment.name": setting(text, {
            default: "hot-deals-blackhole",
            meaning: "One of the saved experiments.",
        }),
        "experiment.area": setting(
            {
                allowed: "Global, or a namespace",
                read: (area: string) => (area === "Global" ? area : label.read(area)),
            },
            { default: "Global", meaning: "Where to look for targets: everything discovered, or one namespace." },
        ),
        "experiment.target": setting(target, {
            describedDefault: "the saved experiment's, in the shop's namespace",
            meaning: "Attributes of the containers to attack. Only for an experiment that has one attack.",
            example: "k8s.deployment=hot-deals,k8s.namespace=demo",
        }),
        "experiment.radius": setting(radius, {
            describedDefault: "the saved experiment's, otherwise 1",
            meaning:
                "Maximum number of containers that each attack affects: a number, a percentage of the matches, or " +
                "`all`.",
            example: "1",
        }),
        "experiment.includeNotReady": setting(flag, {
            describedDefault: "the saved experiment's, otherwise `false`",
            meaning:
                "Whether attacks also choose pods that are not ready. Not for `kill` and `fault`, which need ready pods.",
            example: "false",
        }),
        "experiment.attack": setting(oneOf(...plainAttackKinds), {
            describedDefault: "the saved experiment's",
            meaning:
                "The attack: `blackhole` isolates the targets from the network, `dns` blocks their name resolution, " +
                "`kill` deletes their pods repeatedly. Only for an experiment that has one attack. An attack of kind " +
                "`fault` is part of a saved experiment.",
            example: "blackhole",
        }),
        "experiment.established": setting(oneOf("any", "cut"), {
            describedDefault: "the saved experiment's, otherwise any",
            meaning:
                "What must become of connections into the targets that exist before the attack. `cut`: the verdict " +
                "is INCONCLUSIVE unless they are shown to be cut. `any`: it is only reported.",
            example: "any",
        }),
        "experiment.outward": setting(oneOf("proven", "unproven"), {
            describedDefault: "the saved experiment's, otherwise proven",
            meaning:
                "Whether it must be proven that the targets of a blackhole reach nobody, which takes a tool in their " +
                "pods. `unproven`: pods without a tool need no such proof, and the verdict says so.",
            example: "proven",
        }),
        "experiment.duration": setting(duration(times.duration), {
            default: times.duration.usual,
            meaning: "Observation time after the grace period.",
        }),
        "experiment.interval": setting(duration(times.interval), {
            default: times.interval.usual,
            meaning: "Default interval between requests.",
        }),
        "experiment.timeout": setting(duration(times.timeout), {
            default: times.timeout.usual,
            meaning: "Default request timeout.",
        }),
        "experiment.grace": setting(duration(times.grace), {
            default: times.grace.usual,
            meaning:
                "For this long after the last attack is proven, answers do not count: the cluster reroutes. " +
                "Without an attack, all count.",
        }),
        "experiment.successRate": setting(percentage, {
            default: "100%",
            meaning: "Default minimum success rate.",
        }),
        "experiment.abortBelow": setting(percentage, {
            describedDefault: "none: the attacks do not end early",
            meaning:
                "Ends the attacks early, with the verdict FAILED, when a check's success rate over 10 s drops below " +
                "this. For checks that set no other.",
            example: "50%",
        }),
        "experiment.deadline": setting(duration(times.deadline), {
            default: times.deadline.usual,
            meaning: "The attack ends by itself after this time, even if the update that started it was killed.",
        }),
        "experiment.onFailure": setting(oneOf("report", "fail"), {
            default: "report",
            meaning:
                "`report`: the verdict is an output. `fail`: a verdict other than PASSED fails the update, after the " +
                "attack is undone and the shop has recovered.",
        }),
        "experiment.run": setting(text, {
            default: "1",
            meaning: "Any text; change it to run the experiment again.",
        }),
    }),
} satisfies Record<string, Setting<unknown>>;

export type Key = keyof typeof settings;
export type ReadAs<K extends Key> = (typeof settings)[K] extends Setting<infer T> ? T : never;

/** A setting's value; undefined if it is unset or invalid. */
export type Values = <K extends Key>(key: K) => ReadAs<K> | undefined;

/** A saved experiment, as far as settings depend on it. */
export interface KnownExperiment {
    name: string;
    /** The variant that it needs. @default any */
    variant?: "seven";
    /** @default none */
    attacks?: readonly KnownAttack[];
    /** The steps that it performs during the attack, in order. */
    actions?: readonly { kind: string; durationMs?: number; timeoutMs?: number }[];
    /** @default one that the settings complete */
    checks?: readonly CheckSettings[];
}

interface KnownAttack {
    kind: string;
    /** Absent if the attack names a Service. */
    target?: string;
    established?: "any" | "cut";
    outward?: "proven" | "unproven";
}

/** What `readConfiguration` needs besides the stack's values. */
export interface Surroundings {
    project: string;
    stack: string;
    experiments: readonly KnownExperiment[];
    /** Whether a `project:key` was set with `--secret`. Errors do not show its value. @default no key was */
    isSecret?: (fullKey: string) => boolean;
}

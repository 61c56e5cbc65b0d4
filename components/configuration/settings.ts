import { attackKindOf, plainAttackKinds } from "../../chaos/kinds/attacks/registry";
import type { ExperimentDefinition } from "../../chaos/index";
import { nodeImage } from "../../chaos/pods/pod-security";
import { usualLevelText } from "../../chaos/values/bound";
import { times } from "../../chaos/values/duration";
import {
    agentKey,
    annotations,
    confidence,
    count,
    duration,
    flag,
    hosts,
    httpAddress,
    image,
    label,
    latencyLimits,
    names,
    nodeLabels,
    objectName,
    oneOf,
    percentage,
    radius,
    type Reader,
    size,
    target,
    text,
    tolerations,
} from "./readers";

const plainAttacks = plainAttackKinds
    .map((kind) => `${attackKindOf({ kind }).describe({ kind })} (\`${kind}\`)`)
    .join("; ");

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
    /** The ways to install the shop that use it. It is a mistake with another one. @default all */
    heededBy?: readonly Install[];
    /** Whether the shop's rendered objects depend on it. @default true */
    isRendered?: boolean;
    /** Whether it must be set with `--secret`. @default false */
    isSecret?: boolean;
    /** Whether it makes another experiment of a saved one, of which no verdict is expected. @default false */
    makesAnother?: boolean;
    /** The settings that the documentation has it with. */
    group?: Title;
}

const installs = ["program", "chart", "manifest"] as const;
export type Install = (typeof installs)[number];

type Rest = Omit<Setting<unknown>, keyof Reader<unknown> | "meaning" | "group">;

function setting<R extends Reader<unknown>, const O extends Rest = object>(reader: R, meaning: string, rest?: O) {
    return { ...reader, meaning, ...rest } as R & O & Rest & { meaning: string };
}

/** A chart or a manifest has its own way to say this. */
const heededBy: readonly Install[] = ["program"];

export interface Group {
    /** What a reader should know before the table. @default nothing */
    intro?: string;
    /** Of its settings, unless one says otherwise. */
    common?: Pick<Setting<unknown>, "heededBy" | "isRendered">;
}

/** Of PostgreSQL: each pod has up to four, and three of a hundred are kept for its owner (superuser_reserved). */
export const connections = { each: 4, all: 97 };

/** Of all workloads that use the database together. A rollout adds a pod to each. */
export const mostPodsOnDatabase = (workloads: number) => Math.floor(connections.all / connections.each) - workloads;

/** Settings that are read together, by title. */
export const groups = {
    Shop: {},
    Cluster: {
        intro:
            "A stack touches only the cluster that it names, or one that is local by its context's name and by its\n" +
            "API server's address.",
        common: { isRendered: false },
    },
    "How the shop is installed": {
        intro: "See [Installing](installing.md#three-ways-to-install).",
        common: { isRendered: false },
    },
    Network: {},
    Pods: {
        intro:
            "The database has 100 connections: the workloads that use it, all but the gateway, may have\n" +
            `${mostPodsOnDatabase(3)} pods together in variant four, and ${mostPodsOnDatabase(5)} in variant seven.`,
    },
    Storage: {
        intro: "Without a PersistentVolumeClaim, data is lost with its pod.",
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

const replicas = (workload: string) =>
    setting(count(0, 100), `Number of ${workload} pods.`, {
        describedDefault: "1, or as scaled",
        example: "3",
        heededBy,
    });

/** Takes the place of what a saved experiment says. @param usual if that says nothing */
const override = <R extends Reader<unknown>>(reader: R, meaning: string, usual: string) =>
    setting(reader, meaning, {
        describedDefault: `the saved experiment's, otherwise \`${usual}\``,
        example: usual,
        makesAnother: true,
    });

const time = (name: keyof typeof times, meaning: string) =>
    setting(duration(times[name]), meaning, { default: times[name].usual });

/**
 * Every key that a stack may set with `pulumi config set KEY VALUE`. A dot is part of the key, not a path.
 * docs/settings.md is made from this.
 */
export const settings = {
    ...group("Shop", {
        variant: setting(
            oneOf("four", "seven"),
            "The shop's workloads: gateway, three backends and the database; `seven` adds orders, inventory and " +
                "message-broker.",
            { default: "four" },
        ),
        namespace: setting(
            label,
            "The shop's namespace, created with it. Pod Security level `restricted` if `install` is `program`.",
            { default: "demo" },
        ),
    }),
    ...group("Cluster", {
        "kube.context": setting(
            text,
            "The kubeconfig context that the stack may touch. Required unless that is local.",
            { describedDefault: "the current context, if it is local", example: "my-cluster" },
        ),
        "cluster.name": setting(text, "The cluster's name, for the agent and the attribute `k8s.cluster-name`.", {
            describedDefault: "the stack's name",
            example: "demo-cluster",
        }),
    }),
    ...group("How the shop is installed", {
        install: setting(
            oneOf(...installs),
            "What installs the shop: this program, a chart, or a manifest. Changing it recreates the namespace.",
            { default: "program" },
        ),
        "install.timeout": setting(
            duration({ least: "5s", most: "5m" }),
            "Maximum time for a shop from a chart or a manifest to become ready.",
            { default: "5m0s" },
        ),
        "chart.repo": setting(httpAddress, "The repository of the shop's chart.", {
            default: "https://steadybit.github.io/shopping-demo",
        }),
        "chart.name": setting(text, "The shop's chart.", {
            default: "steadybit-shopping-demo",
        }),
        "chart.version": setting(text, "Version of the shop's chart.", {
            describedDefault: "the newest",
            example: "1.0.0",
        }),
        "chart.values": setting(
            text,
            "A values file for the shop's chart, kept secret. The settings `ingress.*` override its values of the " +
                "same names.",
            { example: "values.yaml" },
        ),
        manifest: setting(text, "Path or URL of the shop's manifest, with objects of its namespace only.", {
            describedDefault: "none; required if `install` is `manifest`",
            example: "shop.yaml",
        }),
    }),
    ...group("Network", {
        "gateway.serviceType": setting(
            oneOf("LoadBalancer", "NodePort", "ClusterIP"),
            "Type of the gateway's Service, which listens on port 80.",
            { default: "LoadBalancer", heededBy },
        ),
        "gateway.addressTimeout": setting(
            duration({ least: "0s", most: "10m" }),
            "How long an update waits for a new gateway's external address. Then it continues.",
            { describedDefault: "`15s` on a local cluster, otherwise `5m0s`", example: "2m", isRendered: false },
        ),
        "ingress.hosts": setting(hosts, "Host names that an Ingress routes to the gateway.", {
            example: "shop.example.com",
            heededBy: ["program", "chart"],
        }),
        "ingress.class": setting(objectName, "The Ingress class.", {
            describedDefault: "the cluster's default",
            example: "nginx",
            heededBy: ["program", "chart"],
        }),
        "ingress.tlsSecret": setting(objectName, "The Secret with the TLS certificate for the hosts.", {
            example: "shop-tls",
            heededBy: ["program", "chart"],
        }),
        "ingress.annotations": setting(annotations, "Annotations of the Ingress.", {
            example: "cert-manager.io/cluster-issuer=letsencrypt",
            heededBy: ["program", "chart"],
        }),
        networkPolicies: setting(
            flag,
            "Whether NetworkPolicies deny all traffic that shop and builtin agent [do not " +
                "need](shop.md#who-may-talk-to-whom).",
            { default: "true" },
        ),
    }),
    ...group("Pods", {
        "replicas.gateway": replicas("gateway"),
        "replicas.fashion-bestseller": replicas("fashion-bestseller"),
        "replicas.toys-bestseller": replicas("toys-bestseller"),
        "replicas.hot-deals": replicas("hot-deals"),
        "replicas.orders": replicas("orders"),
        "replicas.inventory": replicas("inventory"),
        "orders.readyTimeout": setting(
            duration({ least: "0s", most: "10m" }),
            "How long an update waits for new pods of orders, inventory and message-broker. Then it continues.",
            { default: "5m0s", isRendered: false },
        ),
        "images.node": setting(image, "Image for the shop's programs: Node 20 or newer.", {
            default: nodeImage,
        }),
        "images.postgres": setting(image, "Image for the database: a Debian-based PostgreSQL 15 or newer.", {
            default: "docker.io/library/postgres:15.18-bookworm",
            heededBy,
        }),
        "images.nats": setting(image, "Image for the message broker: NATS 2.9.10 or newer.", {
            default: "docker.io/library/nats:2.9.10-alpine",
            heededBy,
        }),
        "images.pullSecrets": setting(names, "Image pull Secrets, which must exist in the namespace of the pods.", {
            example: "registry",
        }),
        "nodes.selector": setting(nodeLabels, "Node labels that the pods of the shop and of experiments require.", {
            example: "pool=demo",
        }),
        "nodes.tolerations": setting(tolerations, "Taints that the pods of the shop and of experiments tolerate.", {
            example: "dedicated=demo:NoSchedule",
        }),
        "pods.priorityClass": setting(
            objectName,
            "PriorityClass of an experiment's own pods. With a high one, no pods preempt the deadline Job or a proxy.",
            { describedDefault: "the cluster's", example: "high-priority", isRendered: false },
        ),
        "pods.userIds": setting(
            oneOf("image", "cluster"),
            "User and group ids of all pods: those of the `image`, or none, for a `cluster` that assigns them, such " +
                "as [OpenShift](installing.md#openshift).",
            { default: "image" },
        ),
        "shutdown.delay": setting(
            duration({ least: "0s", most: "1m" }),
            "How long a stopping program keeps serving. `5s` avoids failed requests during rolling updates and " +
                "evictions.",
            { default: "0s", heededBy },
        ),
    }),
    ...group("Storage", {
        "database.storage": setting(size, "Size of the database's PersistentVolumeClaim.", {
            describedDefault: "none, an `emptyDir`",
            example: "1Gi",
        }),
        "broker.storage": setting(size, "Size of the message broker's PersistentVolumeClaim.", {
            describedDefault: "none, an `emptyDir`",
            example: "1Gi",
        }),
        "storage.class": setting(objectName, "StorageClass of the PersistentVolumeClaims.", {
            describedDefault: "the cluster's default",
            example: "standard",
        }),
        "storage.keep": setting(
            flag,
            "Whether `pulumi destroy` keeps the [claims](installing.md#kept-data) and their namespace.",
            { default: "true", isRendered: false },
        ),
    }),
    ...group("Agent", {
        "agent.enabled": setting(flag, "Whether the stack includes an agent, which discovers targets.", {
            default: "true",
        }),
        "agent.install": setting(
            oneOf("builtin", "chart", "manifest"),
            "What installs the agent: this project, a chart, or a DaemonSet manifest.",
            { default: "builtin" },
        ),
        "agent.key": setting(agentKey, "The agent key, a secret. Set it with `--secret`.", {
            describedDefault: "none; required if the agent is enabled",
            example: "<AGENT_KEY>",
            isSecret: true,
        }),
        "agent.namespace": setting(label, "The agent's namespace, created with it.", {
            describedDefault: "the shop's, followed by `-agent`",
            example: "demo-agent",
        }),
        "agent.timeout": setting(duration({ least: "5s", most: "5m" }), "Maximum time for the agent to become ready.", {
            default: "5m0s",
        }),
        "agent.chart": setting(text, "The agent's chart.", {
            default: "steadybit-agent",
        }),
        "agent.repo": setting(httpAddress, "The repository of the agent's chart.", {
            default: "https://steadybit.github.io/helm-charts",
        }),
        "agent.version": setting(text, "Version of the agent's chart.", {
            describedDefault: "the newest",
            example: "1.0.0",
        }),
        "agent.values": setting(
            text,
            "A values file for the agent's chart, kept secret. The key and the cluster's name override it.",
            { example: "agent-values.yaml" },
        ),
        "agent.manifest": setting(
            text,
            "Path or URL of the agent's DaemonSet manifest. Its placeholders `<AGENT_KEY>` and `<cluster_name>` " +
                "are replaced.",
            { describedDefault: "none; required if `agent.install` is `manifest`", example: "agent.yaml" },
        ),
    }),
    ...group("Experiment", {
        "experiment.enabled": setting(flag, "Whether the experiment runs. The next update starts or undoes it.", {
            default: "false",
        }),
        "experiment.name": setting(text, "One of the saved experiments.", { default: "hot-deals-blackhole" }),
        "experiment.area": setting(
            {
                allowed: "Global, or a namespace",
                words: ["Global"],
                read: (area: string) => (area === "Global" ? area : label.read(area)),
            },
            "The namespace that targets are chosen from. `Global`: all namespaces.",
            { default: "Global", makesAnother: true },
        ),
        "experiment.target": setting(
            target,
            "Attributes of the containers to attack. Only for an experiment with one attack.",
            {
                describedDefault: "the saved experiment's, in the shop's namespace",
                example: "k8s.deployment=hot-deals",
                makesAnother: true,
            },
        ),
        "experiment.radius": override(
            radius,
            "Maximum number or percentage of the matching containers that each attack affects.",
            "1",
        ),
        "experiment.includeNotReady": override(
            flag,
            "Whether attacks also choose pods that are not ready. Not for `kill` and `fault`.",
            "false",
        ),
        "experiment.attack": setting(
            oneOf(...plainAttackKinds),
            `How the targets are attacked: ${plainAttacks}. Only for an experiment with one attack.`,
            { describedDefault: "the saved experiment's", example: "blackhole", makesAnother: true },
        ),
        "experiment.established": override(
            oneOf("any", "cut"),
            "`cut`: the verdict is INCONCLUSIVE unless [connections from before the attack]" +
                "(experiments.md#established-connections) into the targets are shown to be cut.",
            "any",
        ),
        "experiment.outward": override(
            oneOf("proven", "unproven"),
            "`unproven`: in [pods without a tool](experiments.md#pods-without-a-tool), it need not be proven that " +
                "the targets of a blackhole reach no other pod.",
            "proven",
        ),
        "experiment.duration": time("duration", "Observation time after the grace period."),
        "experiment.interval": time("interval", "Default interval between requests."),
        "experiment.timeout": { ...time("timeout", "Default request timeout."), makesAnother: true },
        "experiment.grace": time(
            "grace",
            "Time after the proof of the last attack in which answers do not count. Without an attack, all count.",
        ),
        "experiment.successRate": setting(percentage, "Default minimum success rate.", {
            default: "100%",
            makesAnother: true,
        }),
        "experiment.latency": setting(
            latencyLimits,
            "How much slower the answers of a check may be than before the attack: see " +
                "[Before and under attack](experiments.md#before-and-under-attack).",
            { describedDefault: "none", example: "p95=2x", makesAnother: true },
        ),
        "experiment.baseline": time(
            "baseline",
            "Measuring time before the attack, for checks that are compared with it.",
        ),
        "experiment.confidence": setting(
            confidence,
            `Success rate that the requests of a check must show with ${usualLevelText} confidence, for \`PASSED\`: ` +
                "see [What a rate shows](experiments.md#what-a-rate-shows).",
            { describedDefault: "none", example: "90%", makesAnother: true },
        ),
        "experiment.abortBelow": setting(
            percentage,
            "Success rate of a check over 10 s below which the attacks end early, with the verdict FAILED.",
            { describedDefault: "none", example: "50%", makesAnother: true },
        ),
        "experiment.deadline": setting(
            duration(times.deadline),
            "Time after which the attack ends, even if the update that started it was killed.",
            {
                describedDefault: "`10m`; with `experiment.until` `verdict`, what the run needs and a minute",
                example: "10m",
            },
        ),
        "experiment.until": setting(
            oneOf("verdict", "disabled"),
            "`disabled`: the attack stays until the experiment is disabled, or until its deadline. `verdict`: it " +
                "ends with the verdict.",
            { default: "disabled" },
        ),
        "experiment.onFailure": setting(
            oneOf("report", "fail"),
            "`fail`: a verdict other than PASSED fails the update, once the attack is undone and the shop recovered.",
            { default: "report" },
        ),
        "experiment.run": setting(text, "Change it to run the experiment again.", { default: "1" }),
    }),
} satisfies Record<string, Setting<unknown>>;

export type Key = keyof typeof settings;

/** The setting of a key as a person wrote it. Undefined if there is none. */
export const settingOf = (key: string): Setting<unknown> | undefined =>
    Object.hasOwn(settings, key) ? settings[key as Key] : undefined;

export type ReadAs<K extends Key> = (typeof settings)[K] extends Reader<infer T> ? T : never;

/** The values of the settings whose keys begin with a word, by the rest of their keys. Durations end in `Ms`. */
export type Fields<Word extends string> = {
    [K in Key as FieldOf<K, Word>]: (typeof settings)[K] extends { default: string }
        ? ReadAs<K>
        : ReadAs<K> | undefined;
};
type FieldOf<K extends Key, Word extends string> = K extends `${Word}.${infer Field}`
    ? (typeof settings)[K] extends { unit: "Ms" }
        ? `${Field}Ms`
        : Field
    : never;

/** A setting's value; undefined if it is unset or invalid. */
export type Values = <K extends Key>(key: K) => ReadAs<K> | undefined;

export function fieldsOf<Word extends string>(word: Word, get: Values): Fields<Word> {
    const fields = Object.entries<Setting<unknown>>(settings)
        .filter(([key]) => key.startsWith(`${word}.`))
        .map(([key, { unit = "" }]) => [key.slice(word.length + 1) + unit, get(key as Key)]);
    return Object.fromEntries(fields) as Fields<Word>;
}

/** A saved experiment, as far as settings depend on it. */
export interface KnownExperiment extends Omit<ExperimentDefinition, "hypothesis"> {
    name: string;
    /** The variant that it needs. @default any */
    variant?: "seven";
}

/** What `readConfiguration` needs besides the stack's values. */
export interface Surroundings {
    project: string;
    stack: string;
    experiments: readonly KnownExperiment[];
    /** Whether a `project:key` was set with `--secret`. Errors do not show its value. @default no key was */
    isSecret?: (fullKey: string) => boolean;
}

export interface Given {
    get: Values;
    /** The settings that the stack itself sets. */
    own: ReadonlyMap<string, string>;
    around: Surroundings;
}

/** The settings that make another experiment of a saved one. A shorter or longer one is still the same. */
export const overrides = Object.entries<Setting<unknown>>(settings)
    .filter(([, { makesAnother }]) => makesAnother)
    .map(([key]) => key);

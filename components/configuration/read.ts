import type { Radius } from "../../shared/radius";
import { agentMistakes, keyCommand } from "./agent";
import { contradictions } from "./contradictions";
import { installMistakes } from "./install";
import { ConfigurationError, type Mistake, setCommand, suggestion } from "./mistakes";
import { type Key, type ReadAs, type Setting, settings, type Workload, workloads } from "./settings";
import { unknownKey } from "./unknownKeys";
import type { Toleration } from "./values";

/** A stack's configuration, read and checked. Durations are milliseconds, shares are between 0 and 1. */
export interface StackConfiguration {
    variant: "four" | "seven";
    namespace: string;
    /** How the shop is installed. */
    install: InstallSettings;
    clusterName: string;
    /** The kubeconfig context that the stack names; undefined where it leaves the choice to the guard. */
    kubeContext?: string;
    gateway: { serviceType: "LoadBalancer" | "NodePort" | "ClusterIP"; addressTimeoutMs?: number };
    ingress?: { hosts: string[]; class?: string; tlsSecret?: string; annotations?: Record<string, string> };
    /** Only workloads whose number the stack sets. */
    replicas: Partial<Record<Workload, number>>;
    images: { node: string; postgres: string; nats: string };
    /** How long new pods of orders, inventory and message-broker are waited for. */
    ordersReadyTimeoutMs: number;
    /** Where the cluster may put pods, and how it gets their images. */
    placement: { pullSecrets?: string[]; nodeSelector?: Record<string, string>; tolerations?: Toleration[] };
    /** Sizes of the claims, undefined for an `emptyDir`; their class, undefined for the cluster's default; whether they outlive the stack. */
    storage: { database?: string; broker?: string; class?: string; keep: boolean };
    /** How long a program goes on serving after it was told to stop. */
    shutdownDelayMs: number;
    /** Undefined where it is not enabled. */
    agent?: AgentSettings;
    experiment: ExperimentSettings;
}

export type InstallSettings =
    | { kind: "program" }
    | { kind: "chart"; chart: { name: string; repo: string; version?: string; valuesFile?: string }; timeoutMs: number }
    /** `manifest` is a path or URL. */
    | { kind: "manifest"; manifest: string; timeoutMs: number };

export interface AgentSettings {
    install: "builtin" | "chart" | "manifest";
    /** A secret: whoever hands it to a resource marks it so. */
    key: string;
    namespace: string;
    timeoutMs: number;
    chart: { name: string; repo: string; version?: string; valuesFile?: string };
    /** Path or URL; set where `install` is `manifest`. */
    manifest?: string;
}

export interface ExperimentSettings {
    enabled: boolean;
    name: string;
    area: string;
    /** Undefined: the saved experiment's own target. */
    target?: string;
    /** Undefined: the saved experiment's own. */
    radius?: Radius;
    /** Undefined: the saved experiment's own. */
    attack?: "blackhole" | "dns" | "kill";
    durationMs: number;
    intervalMs: number;
    timeoutMs: number;
    graceMs: number;
    successRate: number;
    deadlineMs: number;
    onFailure: "report" | "fail";
    run: string;
}

/** What the reading knows of a saved experiment. */
export interface KnownExperiment {
    name: string;
    /** The variant that it needs. @default any */
    variant?: "seven";
    /** Their kinds; that it has any is made sure of later. */
    attacks?: readonly { kind: string }[];
    /** What it does meanwhile, one after the other. */
    actions?: readonly { kind: string; durationMs?: number }[];
}

/** What the reading needs to know besides the stack's own values. */
export interface Surroundings {
    project: string;
    stack: string;
    experiments: readonly KnownExperiment[];
    /** Whether a `project:key` was set with `--secret`: its value must not show in an error. @default none was */
    isSecret?: (fullKey: string) => boolean;
}

/**
 * Reads all of a stack's configuration in one pass.
 *
 * @param raw Every value that the stack sets, by `project:key`, as `pulumi.runtime.allConfig()` gives them. Keys of
 *   other projects (`kubernetes:…`, `pulumi:…`) are left alone.
 * @throws ConfigurationError with every mistake in it.
 */
export function readConfiguration(raw: Readonly<Record<string, string>>, around: Surroundings): StackConfiguration {
    const mistakes: Mistake[] = [];
    const own = ownValues(raw, around.project);

    for (const [key, value] of own) {
        if (!(key in settings)) mistakes.push(unknownKey(key, value));
    }

    const read = new Map<Key, unknown>();
    for (const [key, setting] of Object.entries(settings) as [Key, Setting<unknown>][]) {
        const value = own.get(key) ?? setting.default;
        if (value === undefined) continue;
        const outcome = readValue(setting, value);
        if ("reason" in outcome)
            mistakes.push({
                key,
                value,
                reason: outcome.reason,
                command: key === "agent.key" ? keyCommand : setCommand(key, suggestion(setting)),
            });
        else read.set(key, outcome.value);
    }
    const get = <K extends Key>(key: K) => read.get(key) as ReadAs<K> | undefined;

    mistakes.push(
        ...contradictions(get, around.experiments),
        ...agentMistakes(get, around),
        ...installMistakes(get, own),
    );
    if (mistakes.length > 0)
        throw new ConfigurationError(
            around.stack,
            mistakes.map((mistake) => withoutSecret(mistake, around)),
        );
    return shape(<K extends Key>(key: K) => get(key)!, get, around);
}

function ownValues(raw: Readonly<Record<string, string>>, project: string): Map<string, string> {
    const prefix = `${project}:`;
    const own = Object.entries(raw).filter(([key]) => key.startsWith(prefix));
    return new Map(own.map(([key, value]) => [key.slice(prefix.length), value]));
}

/** A mistake in a secret, told without it. */
function withoutSecret(mistake: Mistake, { project, isSecret }: Surroundings): Mistake {
    const { value } = mistake;
    // An agent key that was set in the clear is a secret all the same.
    if (!value || (mistake.key !== "agent.key" && !isSecret?.(`${project}:${mistake.key}`))) return mistake;
    const masked = (text: string) => text.replaceAll(value, "[secret]");
    return { key: mistake.key, value: "[secret]", reason: masked(mistake.reason), command: masked(mistake.command) };
}

function readValue(setting: Setting<unknown>, value: string): { value: unknown } | { reason: string } {
    try {
        const result = setting.read(value);
        return result === undefined ? { reason: `allowed: ${setting.allowed}` } : { value: result };
    } catch (error) {
        return { reason: `${(error as Error).message}; allowed: ${setting.allowed}` };
    }
}

function shape(
    must: <K extends Key>(key: K) => ReadAs<K>,
    get: <K extends Key>(key: K) => ReadAs<K> | undefined,
    { stack }: Surroundings,
): StackConfiguration {
    const hosts = get("ingress.hosts");
    const replicas = workloads
        .map(
            (workload) =>
                [
                    workload,
                    workload === "database" || workload === "message-broker" ? undefined : get(`replicas.${workload}`),
                ] as const,
        )
        .filter(([, number]) => number !== undefined);
    return {
        variant: must("variant"),
        namespace: must("namespace"),
        install: installSettings(must, get),
        clusterName: get("cluster.name") ?? stack,
        kubeContext: get("kube.context"),
        gateway: { serviceType: must("gateway.serviceType"), addressTimeoutMs: get("gateway.addressTimeout") },
        ingress: hosts && {
            hosts,
            class: get("ingress.class"),
            tlsSecret: get("ingress.tlsSecret"),
            annotations: get("ingress.annotations"),
        },
        replicas: Object.fromEntries(replicas),
        images: { node: must("images.node"), postgres: must("images.postgres"), nats: must("images.nats") },
        ordersReadyTimeoutMs: must("orders.readyTimeout"),
        placement: {
            pullSecrets: get("images.pullSecrets"),
            nodeSelector: get("nodes.selector"),
            tolerations: get("nodes.tolerations"),
        },
        storage: {
            database: get("database.storage"),
            broker: get("broker.storage"),
            class: get("storage.class"),
            keep: must("storage.keep"),
        },
        shutdownDelayMs: must("shutdown.delay"),
        agent: must("agent.enabled")
            ? {
                  install: must("agent.install"),
                  key: must("agent.key"),
                  namespace: get("agent.namespace") ?? `${must("namespace")}-agent`,
                  timeoutMs: must("agent.timeout"),
                  chart: {
                      name: must("agent.chart"),
                      repo: must("agent.repo"),
                      version: get("agent.version"),
                      valuesFile: get("agent.values"),
                  },
                  manifest: must("agent.install") === "manifest" ? get("agent.manifest") : undefined,
              }
            : undefined,
        experiment: {
            enabled: must("experiment.enabled"),
            name: must("experiment.name"),
            area: must("experiment.area"),
            target: get("experiment.target"),
            radius: get("experiment.radius"),
            attack: get("experiment.attack"),
            durationMs: must("experiment.duration"),
            intervalMs: must("experiment.interval"),
            timeoutMs: must("experiment.timeout"),
            graceMs: must("experiment.grace"),
            successRate: must("experiment.successRate"),
            deadlineMs: must("experiment.deadline"),
            onFailure: must("experiment.onFailure"),
            run: must("experiment.run"),
        },
    };
}

function installSettings(
    must: <K extends Key>(key: K) => ReadAs<K>,
    get: <K extends Key>(key: K) => ReadAs<K> | undefined,
): InstallSettings {
    const timeoutMs = must("install.timeout");
    switch (must("install")) {
        case "program":
            return { kind: "program" };
        case "chart":
            return {
                kind: "chart",
                chart: {
                    name: must("chart.name"),
                    repo: must("chart.repo"),
                    version: get("chart.version"),
                    valuesFile: get("chart.values"),
                },
                timeoutMs,
            };
        case "manifest":
            return { kind: "manifest", manifest: must("manifest"), timeoutMs };
    }
}

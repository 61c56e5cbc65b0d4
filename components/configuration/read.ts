import * as pulumi from "@pulumi/pulumi";
import type { AllowedContext } from "../../chaos/cluster/guard";
import { isConfigSecret } from "../../toolchain/pulumi-internals";
import { runningStack } from "../pulumi-command";
import { gatewayOf } from "../shop/gateway";
import { builtinAgent, defaultAgentNamespace, newKeyCommand } from "./agent";
import { contradictions } from "./contradictions";
import { commandOf, ConfigurationError, type Found, isSecretKey, suggestion, unknownKey } from "./mistakes";
import {
    fieldsOf,
    type Key,
    type KnownExperiment,
    type ReadAs,
    type Setting,
    settingOf,
    settings,
    type Surroundings,
    type Values,
} from "./settings";

export type StackConfiguration = ReturnType<typeof configurationOf>;
export type AgentSettings = NonNullable<StackConfiguration["agent"]>;

/**
 * Reads and validates a stack's configuration.
 *
 * @param raw the stack's values by `project:key`, from `pulumi.runtime.allConfig()`. Keys of other projects
 *   (`kubernetes:…`, `pulumi:…`) are ignored.
 * @throws ConfigurationError with every mistake in it
 */
export function readConfiguration(raw: Readonly<Record<string, string>>, around: Surroundings): StackConfiguration {
    const mistakes: Found[] = [];
    const own = ownValues(raw, around.project);
    // A secret setting in plain text is a secret, too.
    const isHidden = (key: string) => isSecretKey(key) || around.isSecret?.(`${around.project}:${key}`) === true;

    for (const key of own.keys()) {
        if (settingOf(key) === undefined) mistakes.push(unknownKey(key, isHidden(key)));
    }

    const read = new Map<Key, unknown>();
    for (const [key, setting] of Object.entries(settings) as [Key, Setting<unknown>][]) {
        const value = own.get(key) ?? setting.default;
        if (value === undefined) continue;
        const outcome = readValue(key, setting, value, isHidden(key));
        if ("reason" in outcome) mistakes.push(outcome);
        else read.set(key, outcome.value);
    }
    const get: Values = <K extends Key>(key: K) => read.get(key) as ReadAs<K> | undefined;

    mistakes.push(...contradictions({ get, own, around }));
    const valueOf = (key: string) => {
        if (own.has(key) && isHidden(key)) return "[secret]";
        const setting = settingOf(key);
        return setting === undefined ? "[hidden]" : (own.get(key) ?? setting.default);
    };
    // The builtin agent accepts any key, so nobody needs to be asked for one.
    const commandFor = (found: Found) =>
        found.key === "agent.key" && get("agent.install") === "builtin" ? newKeyCommand() : commandOf(found);
    if (mistakes.length > 0)
        throw new ConfigurationError(
            around.stack,
            mistakes.map((found) => ({ command: commandFor(found), ...found, value: valueOf(found.key) })),
        );
    return configurationOf(get, around.stack);
}

function ownValues(raw: Readonly<Record<string, string>>, project: string): Map<string, string> {
    const prefix = `${project}:`;
    const own = Object.entries(raw).filter(([key]) => key.startsWith(prefix));
    return new Map(own.map(([key, value]) => [key.slice(prefix.length), value]));
}

/**
 * What is wrong with a setting by itself, as it was given on a command line. Undefined if nothing is.
 *
 * @param key of a setting that is no secret, or of none
 */
export function mistakeIn(key: string, value: string): Found | undefined {
    const setting = settingOf(key);
    if (setting === undefined) return unknownKey(key, false);
    const outcome = readValue(key, setting, value, false);
    return "reason" in outcome ? outcome : undefined;
}

/** @param isHidden whether nothing of the value may be shown, which a reader's own reason could quote */
function readValue(
    key: string,
    setting: Setting<unknown>,
    value: string,
    isHidden: boolean,
): { value: unknown } | Found {
    const mistake = {
        key,
        reason: `allowed: ${setting.allowed}`,
        mend: { [key]: suggestion(setting, isHidden ? undefined : value) },
    };
    try {
        const result = setting.read(value);
        return result === undefined ? mistake : { value: result };
    } catch (error) {
        return isHidden ? mistake : { ...mistake, reason: `${(error as Error).message}; ${mistake.reason}` };
    }
}

/** A stack's validated configuration. Durations are in milliseconds, shares between 0 and 1. */
function configurationOf(get: Values, stack: string) {
    const must = <K extends Key>(key: K) => get(key)!;
    const hosts = get("ingress.hosts");
    return {
        variant: must("variant"),
        namespace: must("namespace"),
        install: {
            kind: must("install"),
            timeoutMs: must("install.timeout"),
            chart: {
                name: must("chart.name"),
                repo: must("chart.repo"),
                version: get("chart.version"),
                valuesFile: get("chart.values"),
            },
            /** Path or URL. Set if `kind` is `manifest`. */
            manifest: get("manifest"),
        },
        clusterName: get("cluster.name") ?? stack,
        /** The kubeconfig context that the stack names. @default the guard chooses */
        kubeContext: get("kube.context"),
        gateway: fieldsOf("gateway", get),
        ingress: hosts && { ...fieldsOf("ingress", get), hosts },
        /** Whether the shop's pods and the builtin agent's may exchange only the traffic that they need. */
        networkPolicies: must("networkPolicies"),
        /** Undefined for workloads whose number of pods the stack does not set. */
        replicas: fieldsOf("replicas", get),
        images: fieldsOf("images", get),
        /** How long an update waits for new pods of orders, inventory and message-broker. */
        ordersReadyTimeoutMs: must("orders.readyTimeout"),
        /** Where pods may run, and how the cluster pulls their images. */
        placement: {
            pullSecrets: get("images.pullSecrets"),
            nodeSelector: get("nodes.selector"),
            tolerations: get("nodes.tolerations"),
            /** Whether the cluster assigns user ids to pods, which then set none. */
            withoutUserIds: get("pods.userIds") === "cluster" || undefined,
            /** Of an experiment's own pods. */
            priorityClassName: get("pods.priorityClass"),
        },
        storage: {
            /** Size of the database's PersistentVolumeClaim. @default none, an `emptyDir` */
            database: get("database.storage"),
            /** Size of the broker's PersistentVolumeClaim. @default none, an `emptyDir` */
            broker: get("broker.storage"),
            ...fieldsOf("storage", get),
        },
        /** How long a program keeps serving after SIGTERM. */
        shutdownDelayMs: must("shutdown.delay"),
        /** Undefined if it is not enabled. */
        agent: must("agent.enabled")
            ? {
                  install: must("agent.install"),
                  /** In plain text: pass it to resources as a secret. */
                  key: must("agent.key"),
                  namespace: get("agent.namespace") ?? defaultAgentNamespace(must("namespace")),
                  timeoutMs: must("agent.timeout"),
                  chart: {
                      name: must("agent.chart"),
                      repo: must("agent.repo"),
                      version: get("agent.version"),
                      valuesFile: get("agent.values"),
                  },
                  /** Path or URL. Set if `install` is `manifest`. */
                  manifest: get("agent.manifest"),
              }
            : undefined,
        /** Undefined fields are the saved experiment's. */
        experiment: fieldsOf("experiment", get),
    };
}

/**
 * This stack's configuration.
 *
 * @param experiments the saved experiments
 * @throws ConfigurationError with every mistake in it
 */
export function stackConfiguration(experiments: readonly KnownExperiment[]): StackConfiguration {
    const around = { project: pulumi.getProject(), stack: pulumi.getStack(), experiments, isSecret: isConfigSecret };
    return readConfiguration(pulumi.runtime.allConfig(), around);
}

/** The settings of the stack's experiment: its own, and where the shop and the agent are. */
export function experimentSettings(configuration: StackConfiguration, context: Pick<AllowedContext, "name">) {
    const { experiment, clusterName, namespace, agent } = configuration;
    const service = gatewayOf(namespace);
    const stack = runningStack() || undefined;
    return { ...experiment, clusterName, context: context.name, stack, service, agent: builtinAgent(agent) };
}

import type { OutputMap } from "@pulumi/pulumi/automation";
import { kubectl } from "../chaos/values/kubectl";
import type { Cluster } from "../chaos/cluster/client";
import { type RunningExperiment, runningExperiments } from "../chaos/lease/running";
import { newKeyCommand } from "../components/configuration/agent";
import { pulumiCommand, setCommand } from "../components/pulumi-command";
import { say, typed } from "./print";
import type { Session } from "./session";
import { wholeProducts } from "./shop";
import { fileOfStack, StackFile } from "./stack-file";
import { describeTargets, endLines } from "./status";

export interface ShopReportArgs {
    cluster: Cluster;
    outputs: OutputMap;
    stack: string;
    /** Whether the stack's own settings enable its experiment. */
    ownExperiment: boolean;
    /** Whether a plain `pulumi up` has all the keys that it needs. */
    keyIsSet: boolean;
    /** How long to wait for `/products`. */
    patienceMs: number;
    say: (line: string) => void;
}

/**
 * Says that the shop is up, if `/products` lists everything. Otherwise says what was seen, and what shows or removes
 * the cause. An update alone does not show that: it sees neither the listing nor what was changed without Pulumi.
 *
 * @returns whether the shop is up
 */
export async function reportShop(args: ShopReportArgs): Promise<boolean> {
    const { cluster, outputs, patienceMs, say } = args;
    const namespace = String(outputs.namespace?.value);
    const first = await wholeProducts(cluster, namespace, 0);
    const experiment = first.good ? undefined : await experimentIn(cluster, namespace);
    const waits = !first.good && experiment === undefined;
    if (waits) say(`  … waiting for /products: ${first.problem}`);
    const { good, problem } = waits ? await wholeProducts(cluster, namespace, patienceMs) : first;
    if (good) {
        const url = outputs.productsUrl?.value as string | undefined;
        say(url ? `The shop is up: ${url}` : `The shop is up; ${String(outputs.gateway?.value)}`);
        return true;
    }
    say(`The shop is installed, but /products fails: ${problem}`);
    for (const line of experiment ? experimentLines(experiment, args) : causeLines(namespace, args)) say(line);
    return false;
}

export async function experimentIn(cluster: Cluster, namespace: string): Promise<RunningExperiment | undefined> {
    const { running } = await runningExperiments(cluster, namespace);
    return running.find((found) => found.namespace === namespace);
}

function experimentLines(running: RunningExperiment, { cluster, ownExperiment, stack }: ShopReportArgs): string[] {
    const { experiment, lease, namespace } = running;
    // `npm start` also has the agent's key, and is for this stack only.
    const update = stack === "local" ? "npm start" : pulumiCommand(["up"], stack);
    const disable = `${setCommand("experiment.enabled", "false", stack)} && ${update}`;
    const [command, ...more] = ownExperiment
        ? [typed(disable)]
        : endLines(running, { context: cluster.kubeconfig.getCurrentContext(), typed });
    return [
        `The experiment ${experiment}${lease ? ` of ${lease.holder}` : ""} runs in namespace ${namespace}: ` +
            describeTargets(running),
        `End it: ${command}`,
        ...more,
    ];
}

function causeLines(namespace: string, { cluster, outputs, stack, keyIsSet }: ShopReportArgs): string[] {
    const context = cluster.kubeconfig.getCurrentContext();
    const prefix = kubectl({ context, namespace });
    const workloads = Object.entries((outputs.workloads?.value ?? {}) as Record<string, string>);
    const unready = workloads
        .filter(([, state]) => !/^([1-9]\d*) of \1 ready$/.test(state))
        .map(([name, state]) => `  ${name}: ${state}${state === "0 of 0 ready" ? scaleUp(prefix, name) : ""}`);
    return [
        ...unready,
        `See why: ${typed(`${prefix} get deployments,pods,services,networkpolicies`)}`,
        "An update does not see what was changed or deleted without Pulumi. If that may be the cause:",
        ...(keyIsSet ? [] : [typed(newKeyCommand(stack))]),
        typed(pulumiCommand(["up", "--refresh"], stack)),
    ];
}

/** A refresh does not: the number of pods is the user's unless a setting says it. */
const scaleUp = (prefix: string, name: string) => `; run: ${prefix} scale deployment ${name} --replicas 1`;

/** The update has waited for the pods; what is left is that the cluster routes to them. */
const patienceMs = 10_000;

/**
 * Says whether the shop is up after a session's last update; see `reportShop`.
 *
 * @param stack the session's
 * @param outputs of that update
 * @returns whether the shop is up
 */
export function reportSession(session: Session, stack: string, outputs: OutputMap): Promise<boolean> {
    say();
    return reportShop({
        cluster: session.cluster,
        outputs,
        stack,
        ownExperiment: session.settings["experiment.enabled"] === "true",
        keyIsSet: hasAgentKey(session, stack),
        patienceMs,
        say,
    });
}

/** Whether plain Pulumi finds the agent's key, or needs none. A key that the session made is not in the file. */
function hasAgentKey(session: Session, stack: string): boolean {
    return session.settings["agent.enabled"] === "false" || new StackFile(fileOfStack(stack)).has("agent.key");
}

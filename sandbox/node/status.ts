import { withNeeds } from "../../toolchain/parts/part";
import { stateOf } from "../../toolchain/parts/store";
import { networkParts, userParts } from "../parts/locate";
import { addresses, apiServerUrl, sandboxContext } from "./addresses";
import { callApi } from "./api";
import { cgroupsExist } from "./cgroups";
import { importedImages } from "./components/containerd";
import { choices } from "./choices";
import { clusterDnsAnswers, isReady, nodeIsReady, type Pod } from "./health";
import { layout } from "./layout";
import { namespacesAreSound } from "./namespaces";
import { linkIsUp, someLinkExists } from "./links";
import { sandboxNodes } from "./nodes";
import { type Component, isCurrent, logPath, runningComponent } from "./processes";
import { allComponents } from "./up";

export type SandboxStatus = Awaited<ReturnType<typeof sandboxStatus>>;

/** The state of the sandbox. Changes nothing. */
export async function sandboxStatus() {
    const components = allComponents().map(statusOf);
    const isThere = components.some(({ state }) => state !== "stopped") || someLinkExists() || cgroupsExist();
    const cluster = isThere ? await lookInside() : nothingInside;
    const problems = isThere ? await problemsOf(components, cluster) : [];
    const parts = withNeeds([...userParts, ...networkParts[choices().network]]);
    /** `up`: healthy. `broken`: some of it does not work; `up` repairs it. `down`: nothing runs. */
    const state: "up" | "broken" | "down" = !isThere ? "down" : problems.length > 0 ? "broken" : "up";
    return {
        state,
        context: sandboxContext,
        kubeconfig: layout.kubeconfig,
        apiServer: apiServerUrl,
        loadBalancerPool: addresses.loadBalancerPool,
        components,
        /** Sentences; empty when up or down. */
        problems,
        /** What it is started with. */
        choices: choices(),
        ...cluster,
        parts: await Promise.all(
            parts.map(async (part) => ({ name: part.name, version: part.version, state: await stateOf(part) })),
        ),
    };
}

function statusOf(component: Component) {
    const { name } = component;
    const record = runningComponent(name);
    /** `outdated`: it runs with another command line or environment than `up` would use. */
    const state: "running" | "outdated" | "stopped" = !record
        ? "stopped"
        : isCurrent(component)
          ? "running"
          : "outdated";
    return { name, state, pid: record?.pid, since: record?.startedAt, log: logPath(name) };
}

const nothingInside = {
    /** Whether all nodes are. */
    nodeReady: false,
    dnsAnswers: false,
    /** Pods that are neither ready nor completed, as `namespace/name: reason`. */
    podsNotReady: [] as string[],
    images: [] as string[],
};

async function lookInside(): Promise<typeof nothingInside> {
    const pods = callApi<{ items: Pod[] }>("/api/v1/pods").then(({ items }) => items.flatMap(podProblem));
    const [ready, dnsAnswers, podsNotReady, images] = await Promise.all([
        Promise.all(sandboxNodes().map((node) => nodeIsReady(node))),
        clusterDnsAnswers().catch(() => false),
        pods.catch(() => []),
        importedImages().catch(() => []),
    ]);
    return { nodeReady: ready.every(Boolean), dnsAnswers, podsNotReady, images };
}

async function problemsOf(components: readonly ReturnType<typeof statusOf>[], inside: typeof nothingInside) {
    const problems = components
        .filter(({ state }) => state !== "running")
        .map(({ name, state, log }) => `${name} is ${state}; its log: ${log}`);
    for (const node of sandboxNodes()) {
        if (!(await linkIsUp(node))) problems.push(`the network of ${node.name} is incomplete`);
        if (!namespacesAreSound(node)) problems.push(`the namespaces of ${node.name} are gone`);
    }
    if (!inside.nodeReady) problems.push(sandboxNodes().length === 1 ? "the node is not Ready" : "a node is not Ready");
    if (!inside.dnsAnswers) problems.push("the cluster's name server does not answer");
    return problems;
}

function podProblem(pod: Pod): string[] {
    const { metadata, status } = pod;
    if (status.phase === "Succeeded" || (status.phase === "Running" && isReady(pod))) return [];
    const waiting = status.containerStatuses?.map(({ state }) => state.waiting?.reason).find((reason) => reason);
    const reason = waiting ?? (status.phase === "Running" ? "not ready" : status.phase);
    return [`${metadata.namespace}/${metadata.name}: ${reason}`];
}

export function statusTable(status: SandboxStatus): string {
    const lines = [`The sandbox is ${status.state}.`];
    const { network, nodes, ipFamilies, denied } = status.choices;
    const list = (items: readonly string[]) => items.join("\n                 ") || "none";
    if (status.state !== "down") {
        lines.push(
            "",
            row("COMPONENT", "STATE", "PID", "SINCE"),
            ...status.components.map(({ name, state, pid = "", since = "" }) => row(name, state, `${pid}`, since)),
            "",
            `Nodes:           ${nodes}, ${status.nodeReady ? "Ready" : "not Ready"}`,
            `Cluster DNS:     ${status.dnsAnswers ? "answers" : "does not answer"}`,
            `API server:      ${status.apiServer} (context ${status.context})`,
            `LoadBalancers:   ${status.loadBalancerPool}`,
            `Network:         ${network}, ${ipFamilies}`,
            `Denied traffic:  ${denied === "drop" ? "dropped" : "rejected"}`,
            `Kubeconfig:      ${status.kubeconfig}`,
            `Pods not ready:  ${list(status.podsNotReady)}`,
            `Images:          ${list(status.images)}`,
        );
    }
    const missing = status.parts.filter(({ state }) => state === "missing" || state === "damaged");
    const named = missing.map(({ name, state }) => `${name} (${state})`).join(", ");
    if (missing.length > 0) lines.push("", `Parts that the next \`up\` builds: ${named}`);
    if (status.problems.length > 0) lines.push("", "Problems:", ...status.problems.map((problem) => `  - ${problem}`));
    if (status.state !== "up") {
        lines.push("", `\`npm run sandbox -- up\` ${status.state === "broken" ? "repairs it" : "starts it"}.`);
    }
    return `${lines.join("\n")}\n`;
}

/** A line about a component. The longest name is `kube-controller-manager`. */
function row(name: string, state: string, pid: string, since: string): string {
    return `${name.padEnd(25)}${state.padEnd(10)}${pid.padEnd(9)}${since}`.trimEnd();
}

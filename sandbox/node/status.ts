import { withNeeds } from "../../toolchain/parts/part";
import { type PartState, stateOf } from "../../toolchain/parts/store";
import { sandboxContext } from "../paths";
import { addresses, apiServerUrl } from "./addresses";
import { type KubernetesObject, SandboxApi } from "./api";
import { cgroupsExist } from "./cgroups";
import { allComponents } from "./components";
import { importedImages } from "./components/containerd";
import { type DeniedTraffic, deniedTraffic } from "./components/network-policy";
import { clusterDnsAnswers, isReady, nodeIsReady } from "./health";
import { type NodeLayout, nodeLayout } from "./layout";
import { namespacesAreSound } from "./namespaces";
import { networkExists, networkIsUp } from "./network";
import { locateParts, userParts } from "../parts/locate";
import { isCurrent, logPath, runningComponent } from "./processes";

interface ComponentStatus {
    readonly name: string;
    /** `outdated`: it runs with another command line or environment than `up` would use. */
    readonly state: "running" | "outdated" | "stopped";
    readonly pid?: number;
    /** ISO 8601. */
    readonly since?: string;
    readonly log: string;
}

export interface SandboxStatus {
    /** `up`: healthy. `broken`: some of it does not work; `up` repairs it. `down`: nothing runs. */
    readonly state: "up" | "broken" | "down";
    readonly context: typeof sandboxContext;
    readonly kubeconfig: string;
    readonly apiServer: string;
    readonly loadBalancerPool: string;
    readonly components: readonly ComponentStatus[];
    /** Sentences; empty when up or down. */
    readonly problems: readonly string[];
    /** What the network does with traffic that a NetworkPolicy denies. */
    readonly deniedTraffic: DeniedTraffic;
    readonly nodeReady: boolean;
    readonly dnsAnswers: boolean;
    /** Pods that are neither ready nor completed, as `namespace/name: reason`. */
    readonly podsNotReady: readonly string[];
    readonly images: readonly string[];
    readonly parts: readonly { readonly name: string; readonly version: string; readonly state: PartState }[];
}

/** The state of the sandbox. Changes nothing. */
export async function sandboxStatus(): Promise<SandboxStatus> {
    const layout = nodeLayout();
    const components = allComponents(layout, locateParts()).map((component): ComponentStatus => {
        const record = runningComponent(layout, component.name);
        const state = record ? (isCurrent(layout, component) ? "running" : "outdated") : "stopped";
        return {
            name: component.name,
            state,
            pid: record?.pid,
            since: record?.startedAt,
            log: logPath(layout, component.name),
        };
    });
    const isThere = components.some(({ state }) => state !== "stopped") || networkExists() || cgroupsExist();
    const cluster = isThere ? await lookInside(layout) : nothingInside;
    const problems = isThere ? await problemsOf(layout, components, cluster) : [];
    return {
        state: !isThere ? "down" : problems.length > 0 ? "broken" : "up",
        context: sandboxContext,
        kubeconfig: layout.kubeconfig,
        apiServer: apiServerUrl,
        loadBalancerPool: addresses.loadBalancerPool,
        components,
        problems,
        deniedTraffic: deniedTraffic(layout),
        ...cluster,
        parts: await Promise.all(
            withNeeds(userParts).map(async (part) => {
                const { name, version } = part;
                return { name, version, state: await stateOf(part) };
            }),
        ),
    };
}

type Inside = Pick<SandboxStatus, "nodeReady" | "dnsAnswers" | "podsNotReady" | "images">;

const nothingInside: Inside = { nodeReady: false, dnsAnswers: false, podsNotReady: [], images: [] };

async function lookInside(layout: NodeLayout): Promise<Inside> {
    const images = importedImages(layout).catch(() => []);
    const dnsAnswers = clusterDnsAnswers().catch(() => false);
    let api: SandboxApi;
    try {
        api = new SandboxApi(layout);
    } catch {
        return { ...nothingInside, images: await images }; // No certificates: `up` was killed in its first second.
    }
    try {
        const nodeReady = nodeIsReady(api);
        const pods = api.call<{ items: Pod[] }>("GET", "/api/v1/pods").then(
            ({ items }) => items.flatMap(podProblem),
            () => [],
        );
        const [ready, dns, podsNotReady, references] = await Promise.all([nodeReady, dnsAnswers, pods, images]);
        return { nodeReady: ready, dnsAnswers: dns, podsNotReady, images: references };
    } finally {
        api.close();
    }
}

async function problemsOf(
    layout: NodeLayout,
    components: readonly ComponentStatus[],
    inside: Inside,
): Promise<string[]> {
    const problems = components
        .filter(({ state }) => state !== "running")
        .map(({ name, state, log }) => `${name} is ${state}; its log: ${log}`);
    if (!(await networkIsUp())) problems.push("the network between host and node is incomplete");
    if (!namespacesAreSound(layout)) problems.push("the node's namespaces are gone");
    if (!inside.nodeReady) problems.push("the node is not Ready");
    if (!inside.dnsAnswers) problems.push("the cluster's name server does not answer");
    return problems;
}

interface Pod extends KubernetesObject {
    readonly status: {
        readonly phase: string;
        readonly conditions?: readonly { type: string; status: string }[];
        readonly containerStatuses?: readonly { state: { waiting?: { reason?: string } } }[];
    };
}

function podProblem(pod: Pod): string[] {
    const { metadata, status } = pod;
    if (status.phase === "Succeeded" || (status.phase === "Running" && isReady(pod))) return [];
    const waiting = status.containerStatuses?.map(({ state }) => state.waiting?.reason).find((reason) => reason);
    const reason = waiting ?? (status.phase === "Running" ? "not ready" : status.phase);
    return [`${metadata.namespace}/${metadata.name}: ${reason}`];
}

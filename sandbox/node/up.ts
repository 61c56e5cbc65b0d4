import { mkdirSync } from "node:fs";
import { ensureParts } from "../../toolchain/parts/ensure";
import { requireSandboxHost } from "../host";
import { sandboxContext } from "../paths";
import { accessObjects } from "./addons/access";
import { dnsObjects } from "./addons/dns";
import { createVolumeFolders, storageObjects } from "./addons/storage";
import { SandboxApi } from "./api";
import { allComponents } from "./components";
import { configureContainerd, containerd, containerdAnswers, hasImages, importImages } from "./components/containerd";
import { apiServer, controllerManager, etcd, proxy, sandboxController, scheduler } from "./components/control-plane";
import { configureKubelet, kubelet } from "./components/kubelet";
import {
    chooseDeniedTraffic,
    type DeniedTraffic,
    enforcesChoice,
    networkPolicy,
    networkPolicyEnforcer,
} from "./components/network-policy";
import { takeDown } from "./down";
import { clusterDnsAnswers, nameServerIsReady, nodeIsReady, nodeIsRegistered } from "./health";
import { rememberHostSettings } from "./host-settings";
import { writeKubeconfigs } from "./kubeconfig";
import { type NodeLayout, nodeLayout } from "./layout";
import { type NodeReporter, stderrReporter, withNodeLock } from "./lock";
import { createMountPoints, namespaceHolder, namespaceHolderComponent, namespacesAreSound } from "./namespaces";
import { createNetwork, networkIsUp } from "./network";
import { clusterParts, locateParts, type PartLocations } from "../parts/locate";
import { ensurePki } from "./pki";
import { isCurrent, logTail, runningComponent, startComponent, stopComponent } from "./processes";
import { steadily, waitFor } from "./waiting";

export interface RunningSandbox {
    readonly kubeconfig: string;
    readonly context: typeof sandboxContext;
    /** Whether it was up already. */
    readonly wasUp: boolean;
}

/**
 * Starts the one-node Kubernetes and waits until its node is Ready and its name server answers.
 *
 * If it is up, this only checks it. If a component crashed, an earlier call was killed or an image is newer, it starts
 * what is missing; if that fails, it stops everything and starts again. Objects, images and volumes of an earlier run
 * are still there, as after a reboot: the kubelet starts the pods again.
 *
 * @param reporter shows the steps. @default plain lines on standard error
 * @param denied what the network does with traffic that a NetworkPolicy denies. @default as before; at first `drop`
 * @throws Error if the sandbox cannot run here; {PartError} when a part cannot be built;
 *     {ComponentError} when a component does not start, with the end of its log.
 */
export async function sandboxUp(
    reporter: NodeReporter = stderrReporter(),
    denied?: DeniedTraffic,
): Promise<RunningSandbox> {
    requireSandboxHost();
    await ensureParts(clusterParts);
    const layout = nodeLayout();
    const parts = locateParts();
    const sandbox = { kubeconfig: layout.kubeconfig, context: sandboxContext } as const;
    return withNodeLock(layout, reporter, async () => {
        if (denied) chooseDeniedTraffic(layout, denied);
        if (await isHealthy(layout, parts)) return { ...sandbox, wasUp: true };
        await startOrRepair(layout, parts, reporter);
        return { ...sandbox, wasUp: false };
    });
}

/** Whether all components and images are current, the API and the node are ready, and names are resolved. */
async function isHealthy(layout: NodeLayout, parts: PartLocations): Promise<boolean> {
    if (!(await groundIsSound(layout)) || !hasImages(layout, parts)) return false;
    if (!allComponents(layout, parts).every((component) => isCurrent(layout, component))) return false;
    const api = new SandboxApi(layout);
    try {
        return (
            await Promise.all([api.isReady(), nodeIsReady(api, startOf(layout, "kubelet")), answersNames(layout, api)])
        ).every(Boolean);
    } finally {
        api.close();
    }
}

/** Whether names are resolved by a name server of this run. */
async function answersNames(layout: NodeLayout, api: SandboxApi): Promise<boolean> {
    return (await nameServerIsReady(api, startOf(layout, namespaceHolder))) && clusterDnsAnswers();
}

function startOf(layout: NodeLayout, component: string): Date {
    return new Date(runningComponent(layout, component)?.startedAt ?? 0);
}

/** Whether the network and its namespace holder exist. */
async function groundIsSound(layout: NodeLayout): Promise<boolean> {
    return namespacesAreSound(layout) && (await networkIsUp());
}

async function startOrRepair(layout: NodeLayout, parts: PartLocations, reporter: NodeReporter): Promise<void> {
    if (!(await groundIsSound(layout))) {
        if (await takeDown(layout, reporter)) reporter.detail("removed the remains of an earlier run");
        return start(layout, parts, reporter);
    }
    try {
        await start(layout, parts, reporter, repairedForMs);
    } catch (error) {
        reporter.step(`Starting over, since the running node could not be repaired: ${firstLine(error)}`);
        await takeDown(layout, reporter);
        await start(layout, parts, reporter);
    }
}

function firstLine(error: unknown): string {
    return String(error instanceof Error ? error.message : error).split(/[;\n]/, 1)[0]!;
}

/** A restarted kubelet reports all pods as not ready, the name server's too, until it has probed them. */
const repairedForMs = 3_000;

/**
 * Starts the components that do not run, independent ones in parallel: the API server and containerd take longest.
 *
 * @param steadyMs for how long names must be resolved without a gap
 */
async function start(layout: NodeLayout, parts: PartLocations, reporter: NodeReporter, steadyMs = 0): Promise<void> {
    await prepare(layout, reporter);
    const holder = runningComponent(layout, namespaceHolder)!.pid;
    const api = new SandboxApi(layout);
    try {
        reporter.step("Starting etcd, kube-apiserver and containerd");
        const apiReady = startControlPlane(layout, parts, api, holder);
        const runtimeReady = startRuntime(layout, parts, reporter, holder);
        await Promise.all([
            apiReady.then(() => reporter.step("The API server is ready")),
            Promise.all([apiReady, runtimeReady]).then(() => startNode(layout, parts, api, holder)),
            apiReady.then(() => applyAddons(layout, api)),
        ]);
        reporter.step("Waiting for the node and the cluster's name server");
        // A kubelet that kept running has nothing new to report: any report of this kubelet counts.
        await waitFor(layout, "kubelet", "report the node Ready", 90, () =>
            nodeIsReady(api, startOf(layout, "kubelet")),
        );
        await waitFor(
            layout,
            "kubelet",
            "start the cluster's name server (see `kubectl -n kube-system get pods`)",
            90,
            steadily(() => answersNames(layout, api), steadyMs),
        );
    } finally {
        api.close();
    }
}

/** Creates what the components need: files, network, namespaces. */
async function prepare(layout: NodeLayout, reporter: NodeReporter): Promise<void> {
    mkdirSync(layout.root, { recursive: true, mode: 0o755 });
    reporter.step("Preparing certificates, configuration and network");
    createMountPoints(layout);
    createVolumeFolders(layout);
    rememberHostSettings(layout);
    const network = networkIsUp().then((up) => (up ? undefined : createNetwork()));
    const files = ensurePki(layout).then(() => {
        writeKubeconfigs(layout);
        configureKubelet(layout);
        return configureContainerd(layout);
    });
    await Promise.all([network, files]);
    await startComponent(layout, namespaceHolderComponent(layout));
    await waitFor(layout, namespaceHolder, "set up its mounts", 10, () =>
        logTail(layout, namespaceHolder).includes("ready"),
    );
}

async function startControlPlane(
    layout: NodeLayout,
    parts: PartLocations,
    api: SandboxApi,
    holder: number,
): Promise<void> {
    await startComponent(layout, etcd(layout), holder);
    await startComponent(layout, apiServer(layout, parts), holder);
    await waitFor(layout, "kube-apiserver", "become ready", 60, async () => {
        // If etcd ended, the API server would only time out.
        await waitFor(layout, "etcd", "start", 1, () => true);
        return api.isReady();
    });
    await startComponent(layout, controllerManager(layout, parts), holder);
    await startComponent(layout, scheduler(layout, parts), holder);
    await startComponent(layout, sandboxController(layout, parts), holder);
}

async function startRuntime(
    layout: NodeLayout,
    parts: PartLocations,
    reporter: NodeReporter,
    holder: number,
): Promise<void> {
    // A kubelet may report a missing runtime late, when the runtime is back.
    if (!isCurrent(layout, containerd(layout))) await stopComponent(layout, "kubelet");
    await startComponent(layout, containerd(layout), holder);
    await waitFor(layout, "containerd", "answer", 30, () => containerdAnswers(layout));
    await importImages(layout, parts, (reference) => reporter.detail(`importing ${reference}`));
}

async function startNode(layout: NodeLayout, parts: PartLocations, api: SandboxApi, holder: number): Promise<void> {
    await startComponent(layout, kubelet(layout, parts), holder);
    await startComponent(layout, proxy(layout, parts), holder);
    // kube-router exits if its node is not registered.
    await waitFor(layout, "kubelet", "register the node", 60, () => nodeIsRegistered(api));
    await startComponent(layout, networkPolicy(layout, parts), holder);
    await waitFor(layout, networkPolicyEnforcer, "replace its rules", 30, () => enforcesChoice(layout));
}

async function applyAddons(layout: NodeLayout, api: SandboxApi): Promise<void> {
    await Promise.all(
        [...accessObjects(), ...storageObjects(layout), ...dnsObjects()].map((object) => api.apply(object)),
    );
}

import { mkdirSync } from "node:fs";
import { ensureParts } from "../../toolchain/parts/ensure";
import { unsuitableBecause } from "../../toolchain/parts/host";
import { clusterParts } from "../parts/locate";
import { accessObjects } from "./addons/access";
import { dnsObjects } from "./addons/dns";
import { createVolumeFolders, storageObjects } from "./addons/storage";
import { noProxy, sandboxContext } from "./addresses";
import { apiIsReady, applyObject } from "./api";
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
import { layout } from "./layout";
import { detail, step, withNodeLock } from "./lock";
import { createMountPoints, namespaceHolderComponent, namespacesAreSound } from "./namespaces";
import { createNetwork, networkIsUp } from "./network";
import { ensurePki } from "./pki";
import {
    type Component,
    isCurrent,
    logTail,
    namespaceHolder,
    runningComponent,
    startComponent,
    stopComponent,
} from "./processes";
import { steadily, waitFor } from "./waiting";

/**
 * Checks that the sandbox can run on this machine, before anything is done.
 *
 * @throws Error without Linux, root, apt or a supported architecture: the reason, and the alternatives.
 */
export function requireSandboxHost(): void {
    const reason = unsuitableBecause();
    if (reason === undefined) return;
    throw new Error(
        `The sandbox cannot run on this machine: ${reason} Use another local cluster and make it the current ` +
            "context: `kind create cluster`, `minikube start`, or Kubernetes in Docker Desktop's settings.",
    );
}

/**
 * Starts the one-node Kubernetes and waits until its node is Ready and its name server answers.
 *
 * If it is up, this only checks it. If a component crashed, an earlier call was killed or an image is newer, it starts
 * what is missing; if that fails, it stops everything and starts again. Objects, images and volumes of an earlier run
 * are still there, as after a reboot: the kubelet starts the pods again.
 *
 * @param denied what the network does with traffic that a NetworkPolicy denies. @default as before; at first `drop`
 * @returns with `wasUp`: whether it was up already
 * @throws Error if the sandbox cannot run here; {PartError} when a part cannot be built;
 *     {ComponentError} when a component does not start, with the end of its log.
 */
export async function sandboxUp(denied?: DeniedTraffic) {
    requireSandboxHost();
    await ensureParts(clusterParts);
    return withNodeLock(async () => {
        if (denied) chooseDeniedTraffic(denied);
        const wasUp = await isHealthy();
        if (!wasUp) await startOrRepair();
        // For this process and what it starts.
        process.env.NO_PROXY = noProxy();
        return { kubeconfig: layout.kubeconfig, context: sandboxContext, wasUp };
    });
}

/** The components of the node, in the order in which to search for a cause. */
export function allComponents(): Component[] {
    return [
        namespaceHolderComponent(),
        ...[etcd(), apiServer(), controllerManager(), scheduler()],
        ...[containerd(), kubelet(), proxy(), networkPolicy(), sandboxController()],
    ];
}

async function isHealthy(): Promise<boolean> {
    if (!(await groundIsSound()) || !hasImages() || !allComponents().every(isCurrent)) return false;
    return (await Promise.all([apiIsReady(), nodeIsReady(startOf("kubelet")), answersNames()])).every(Boolean);
}

/** Whether names are resolved by a name server of this run. */
async function answersNames(): Promise<boolean> {
    return (await nameServerIsReady(startOf(namespaceHolder))) && clusterDnsAnswers();
}

function startOf(component: string): Date {
    return new Date(runningComponent(component)?.startedAt ?? 0);
}

/** Whether the network and its namespace holder exist. */
async function groundIsSound(): Promise<boolean> {
    return namespacesAreSound() && (await networkIsUp());
}

async function startOrRepair(): Promise<void> {
    // A holder that another version has started would be replaced, and no pod starts again for that.
    if (!(await groundIsSound()) || !isCurrent(namespaceHolderComponent())) {
        if (await takeDown()) detail("removed the remains of an earlier run");
        return start();
    }
    try {
        await start(repairedForMs);
    } catch (error) {
        step(`Starting over, since the running node could not be repaired: ${firstLine(error)}`);
        await takeDown();
        await start();
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
async function start(steadyMs = 0): Promise<void> {
    await prepare();
    step("Starting etcd, kube-apiserver and containerd");
    const apiReady = startControlPlane();
    const runtimeReady = startRuntime();
    await Promise.all([
        apiReady.then(() => step("The API server is ready")),
        Promise.all([apiReady, runtimeReady]).then(startNode),
        apiReady.then(() => Promise.all([...accessObjects(), ...storageObjects(), ...dnsObjects()].map(applyObject))),
    ]);
    step("Waiting for the node and the cluster's name server");
    // A kubelet that kept running has nothing new to report: any report of this kubelet counts.
    await waitFor("kubelet", "report the node Ready", 90, () => nodeIsReady(startOf("kubelet")));
    const wish = "start the cluster's name server (see `kubectl -n kube-system get pods`)";
    await waitFor("kubelet", wish, 90, steadily(answersNames, steadyMs));
}

/** Creates what the components need: files, network, namespaces. */
async function prepare(): Promise<void> {
    mkdirSync(layout.root, { recursive: true, mode: 0o755 });
    step("Preparing certificates, configuration and network");
    createMountPoints();
    createVolumeFolders();
    rememberHostSettings();
    const network = networkIsUp().then((up) => (up ? undefined : createNetwork()));
    const files = ensurePki().then(() => {
        writeKubeconfigs();
        configureKubelet();
        return configureContainerd();
    });
    await Promise.all([network, files]);
    await startComponent(namespaceHolderComponent());
    await waitFor(namespaceHolder, "set up its mounts", 10, () => logTail(namespaceHolder).includes("ready"));
}

async function startControlPlane(): Promise<void> {
    await startComponent(etcd());
    await startComponent(apiServer());
    await waitFor("kube-apiserver", "become ready", 60, async () => {
        // If etcd ended, the API server would only time out.
        await waitFor("etcd", "start", 1, () => true);
        return apiIsReady();
    });
    await startComponent(controllerManager());
    await startComponent(scheduler());
    await startComponent(sandboxController());
}

async function startRuntime(): Promise<void> {
    // A kubelet may report a missing runtime late, when the runtime is back.
    if (!isCurrent(containerd())) await stopComponent("kubelet");
    await startComponent(containerd());
    await waitFor("containerd", "answer", 30, containerdAnswers);
    await importImages((reference) => detail(`importing ${reference}`));
}

async function startNode(): Promise<void> {
    await startComponent(kubelet());
    await startComponent(proxy());
    // kube-router exits if its node is not registered.
    await waitFor("kubelet", "register the node", 60, nodeIsRegistered);
    await startComponent(networkPolicy());
    await waitFor(networkPolicyEnforcer, "replace its rules", 30, enforcesChoice);
}

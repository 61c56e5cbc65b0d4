import { mkdirSync } from "node:fs";
import { ensureParts } from "../../toolchain/parts/ensure";
import { unsuitableBecause } from "../../toolchain/parts/host";
import { clusterParts, networkParts } from "../parts/locate";
import { accessObjects } from "./addons/access";
import { dnsObjects } from "./addons/dns";
import { createVolumeFolders, storageObjects } from "./addons/storage";
import { noProxy, sandboxContext } from "./addresses";
import { apiIsReady, applyForGood, applyObject, deleteAt, deleteDefinitions, type KubernetesObject } from "./api";
import { change, requireFit, tellWayBack } from "./change";
import { changedChoices, type Choices, choices } from "./choices";
import { configureContainerd, containerd, containerdAnswers, hasImages, importImages } from "./components/containerd";
import { apiServer, controllerManager, etcd, proxy, sandboxController, scheduler } from "./components/control-plane";
import { configureKubelet, kubelet } from "./components/kubelet";
import { endSecondNode, takeDown } from "./down";
import { clusterDnsAnswers, forgetNode, nameServerIsReady, nodeIsReady, nodeIsRegistered } from "./health";
import { rememberHostSettings } from "./host-settings";
import { writeKubeconfigs } from "./kubeconfig";
import { layout } from "./layout";
import { detail, step, withNodeLock } from "./lock";
import { createMountPoints, namespaceHolderComponent, namespacesAreSound } from "./namespaces";
import { createLink, linkIsUp } from "./links";
import { currentNetwork, networks } from "./networks/registry";
import { firstNode, type SandboxNode, sandboxNodes, secondNode } from "./nodes";
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
import { requireRunning, steadily, waitFor } from "./waiting";

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
 * Starts the Kubernetes and waits until its nodes are Ready and its name server answers.
 *
 * If it is up, this only checks it. If a component crashed, an earlier call was killed or an image is newer, it starts
 * what is missing; if that fails, it stops everything and starts again. Objects, images and volumes of an earlier run
 * are still there, as after a reboot: the kubelet starts the pods again.
 *
 * @param wanted what is to change; all else stays as it was. With another network, other nodes or other families of
 *     addresses, everything is stopped and starts again: no rule or interface of the former is left.
 * @returns with `wasUp`: whether it was up already
 * @throws Error if the sandbox cannot run here, the network cannot do what is wanted, a part cannot be built, or a
 *     component does not start: with the end of its log.
 */
export async function sandboxUp(wanted: Partial<Choices> = {}) {
    requireSandboxHost();
    requireFit(changedChoices(wanted));
    await ensureParts([...clusterParts, ...networkParts[changedChoices(wanted).network]]);
    return withNodeLock(async () => {
        const before = choices();
        await change(changedChoices(wanted));
        const wasUp = await isHealthy();
        if (!wasUp) await startOrRepair().catch(tellWayBack(before));
        // For this process and what it starts.
        process.env.NO_PROXY = noProxy();
        return { kubeconfig: layout.kubeconfig, context: sandboxContext, wasUp };
    });
}

/** The components of all nodes, in the order in which to search for a cause. */
export function allComponents(): Component[] {
    const nodes = sandboxNodes();
    return [
        ...nodes.map(namespaceHolderComponent),
        ...[etcd(), apiServer(), controllerManager(), scheduler()],
        ...nodes.flatMap((node) => [containerd(node), kubelet(node), proxy(node), enforcerOf(node)]),
        sandboxController(),
    ];
}

const enforcerOf = (node: SandboxNode) => currentNetwork().enforcer(node, choices().denied);

async function isHealthy(): Promise<boolean> {
    const nodes = sandboxNodes();
    const grounds = await Promise.all(nodes.map(groundIsSound));
    if (!grounds.every(Boolean) || !nodes.every(hasImages) || !allComponents().every(isCurrent)) return false;
    return (await Promise.all([apiIsReady(), answersNames(), ...nodes.map(isReadyNow)])).every(Boolean);
}

/** Whether names are resolved by a name server of this run. */
async function answersNames(): Promise<boolean> {
    return (await nameServerIsReady(startOf(namespaceHolder(firstNode)))) && clusterDnsAnswers();
}

/** Any report of the kubelet that runs counts: one that kept running has nothing new to say. */
const isReadyNow = (node: SandboxNode) => nodeIsReady(node, startOf(kubelet(node).name));

function startOf(component: string): Date {
    return new Date(runningComponent(component)?.startedAt ?? 0);
}

/** Whether a node's network and its namespace holder exist. */
async function groundIsSound(node: SandboxNode): Promise<boolean> {
    return namespacesAreSound(node) && (await linkIsUp(node));
}

/** Whether a holder that another version has started would be replaced: no pod starts again for that. */
const isUsable = async (node: SandboxNode) => (await groundIsSound(node)) && isCurrent(namespaceHolderComponent(node));

async function startOrRepair(): Promise<void> {
    if (!(await isUsable(firstNode))) {
        if (await takeDown()) detail("removed the remains of an earlier run");
        return start();
    }
    if (choices().nodes === 1 || !(await isUsable(secondNode))) await endSecondNode();
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
    const nodes = sandboxNodes();
    step("Starting etcd, kube-apiserver and containerd");
    const apiReady = startControlPlane();
    const objectsThere = apiReady.then(applyObjects);
    const nodesStarted = nodes.map(async (node) => {
        await Promise.all([startRuntime(node), apiReady]);
        await startNode(node, objectsThere);
    });
    await Promise.all([apiReady.then(() => step("The API server is ready")), objectsThere, ...nodesStarted]);
    step(`Waiting for the ${nodes.length === 1 ? "node" : "nodes"} and the cluster's name server`);
    for (const node of nodes) {
        const { name } = kubelet(node);
        await waitFor(name, `report the node ${node.name} Ready`, 90, () => isReadyNow(node));
    }
    const wish = "start the cluster's name server (see `kubectl -n kube-system get pods`)";
    await waitFor("kubelet", wish, 90, steadily(answersNames, steadyMs));
}

/** Applies what the cluster needs. A definition of a kind is there before objects of it. */
async function applyObjects(): Promise<void> {
    if (choices().nodes === 1) await forgetNode(secondNode.name);
    await Promise.all([...accessObjects(), ...storageObjects(), ...dnsObjects()].map(applyObject));
    const { ofOneRun = [], ...network } = currentNetwork();
    if (!sandboxNodes().some((node) => runningComponent(enforcerOf(node).name)))
        for (const path of ofOneRun) await deleteAt(path);
    const objects = network.objects();
    const isDefinition = ({ kind }: KubernetesObject) => kind === "CustomResourceDefinition";
    await Promise.all(objects.filter(isDefinition).map(applyForGood));
    for (const object of objects.filter((each) => !isDefinition(each))) await applyForGood(object);
}

/** Creates what the components need: files, networks, namespaces. */
async function prepare(): Promise<void> {
    mkdirSync(layout.root, { recursive: true, mode: 0o755 });
    step("Preparing certificates, configuration and network");
    createMountPoints();
    createVolumeFolders();
    rememberHostSettings();
    const files = ensurePki().then(async () => {
        writeKubeconfigs();
        for (const node of sandboxNodes()) {
            configureKubelet(node);
            await configureContainerd(node);
        }
    });
    await Promise.all([createLinks(), files]);
    for (const node of sandboxNodes()) {
        const holder = namespaceHolderComponent(node);
        await startComponent(holder);
        await waitFor(holder.name, "set up its mounts", 10, () => logTail(holder.name).includes("ready"));
    }
}

/** One after the other: the second is behind the first. */
async function createLinks(): Promise<void> {
    for (const node of sandboxNodes()) if (!(await linkIsUp(node))) await createLink(node);
}

async function startControlPlane(): Promise<void> {
    await startComponent(etcd());
    await startComponent(apiServer());
    let mayRestart = true;
    await waitFor("kube-apiserver", "become ready", 90, async () => {
        // The API server would only time out.
        requireRunning("etcd");
        if (await apiIsReady()) return true;
        // It ends if etcd does not answer within 20 s, as on a disk that others keep busy.
        if (mayRestart && !runningComponent("kube-apiserver")) {
            mayRestart = false;
            await startComponent(apiServer());
        }
        return false;
    });
    // Before the controllers, which wait for a minute for kinds that they have seen: quotas would not hold meanwhile.
    const others = Object.values(networks).filter((network) => network !== currentNetwork());
    await deleteDefinitions(others.flatMap(({ apiGroup }) => apiGroup ?? []));
    await startComponent(controllerManager());
    await startComponent(scheduler());
    await startComponent(sandboxController());
}

async function startRuntime(node: SandboxNode): Promise<void> {
    const runtime = containerd(node);
    // A kubelet may report a missing runtime late, when the runtime is back.
    if (!isCurrent(runtime)) await stopComponent(kubelet(node).name);
    await startComponent(runtime);
    await waitFor(runtime.name, "answer", 30, () => containerdAnswers(node));
    await importImages(node, (reference) => detail(`importing ${reference}`));
}

/** @param objectsThere when the network's objects are in the cluster */
async function startNode(node: SandboxNode, objectsThere: Promise<void>): Promise<void> {
    const [enforcer, { name }] = [enforcerOf(node), kubelet(node)];
    await startComponent(kubelet(node));
    await startComponent(proxy(node));
    // Enforcers end if their node is not registered.
    await waitFor(name, `register the node ${node.name}`, 60, () => nodeIsRegistered(node));
    await objectsThere;
    await currentNetwork().prepare(node);
    await startComponent(enforcer);
    await waitFor(enforcer.name, "program its policies", 60, () => currentNetwork().isReady(node, choices().denied));
}

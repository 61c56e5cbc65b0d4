import { rmSync } from "node:fs";
import { removeTree } from "../../toolchain/parts/store";
import { cgroupProcesses, cgroupsExist, removeCgroups } from "./cgroups";
import { restoreHostSettings } from "./host-settings";
import { layout } from "./layout";
import { detail, step, withNodeLock } from "./lock";
import { processesInNamespaces, removeMountPoints } from "./namespaces";
import { removeLinkOf, removeLinks, someLinkExists, unplug } from "./links";
import { possibleNodes, type SandboxNode, secondNode } from "./nodes";
import { endProcesses, namespaceHolder, recordedComponents, runningComponent, stopComponent } from "./processes";

/** How long containers may take to end before they are killed. */
const podGraceSeconds = 5;

/**
 * Stops the node and removes all that it added to the host, however broken it is. The cluster's objects, images and
 * volumes are kept for the next `sandboxUp`.
 *
 * @returns whether there was anything to stop.
 */
export async function sandboxDown(): Promise<boolean> {
    return withNodeLock(takeDown);
}

/** Also removes the node's state: cluster, images, volumes, certificates. Built parts stay. */
export async function sandboxDestroy(): Promise<void> {
    await withNodeLock(async () => {
        await takeDown();
        step("Removing the cluster, its images and its volumes");
        removeTree(layout.root);
    });
}

/** {@link sandboxDown} for a caller that holds the lock. */
export async function takeDown(): Promise<boolean> {
    if (recordedComponents().length === 0 && !cgroupsExist() && !someLinkExists()) return false;
    step("Stopping the node");
    // First those that would start containers again.
    const kubelets = possibleNodes.map(({ suffix }) => stopComponent(`kubelet${suffix}`));
    await Promise.all([...kubelets, stopComponent("sandbox-controller", 0)]);
    // Programs in pods may shut down: a database writes its last pages.
    await endProcesses(cgroupProcesses("pods"), podGraceSeconds);
    // etcd after its clients; the namespace holders last, since the others are found by them.
    const holders = possibleNodes.map(namespaceHolder);
    const last = ["etcd", ...holders];
    const rest = recordedComponents().filter((name) => !last.includes(name));
    await Promise.all(rest.map((name) => stopComponent(name, 2)));
    await stopComponent("etcd");
    // Processes without a record: shims, orphans, components of an `up` that was killed.
    const ended = await endAll(() => [...cgroupProcesses(), ...processesInNamespaces()].filter(isNoHolder));
    if (ended > 0) detail(`ended ${ended} more ${ended === 1 ? "process" : "processes"}`);
    step("Removing the node's changes to this machine");
    for (const holder of holders) await stopComponent(holder, 0);
    await removeLinks();
    await removeCgroups();
    restoreHostSettings();
    removeMountPoints();
    possibleNodes.forEach(forgetRun);
    rmSync(layout.run, { recursive: true, force: true });
    return true;
}

/** Removes what belongs to one run of a node: a container's records of its processes, and its address. */
function forgetRun({ folders }: SandboxNode): void {
    for (const folder of [folders.containerdState, folders.podAddresses])
        rmSync(folder, { recursive: true, force: true });
}

/**
 * Ends the second node as its machine would by losing power: all of its processes at once. Its records and its link are
 * removed, so that `up` can start it again. What the cluster knows of it stays.
 */
export async function endSecondNode(): Promise<void> {
    await unplug(secondNode);
    await endAll(() => [...processesInNamespaces([secondNode]), ...cgroupProcesses(secondNode)]);
    const its = recordedComponents().filter((name) => name.endsWith(secondNode.suffix));
    for (const name of its) await stopComponent(name, 0);
    await removeLinkOf(secondNode);
    forgetRun(secondNode);
}

/** Ends processes until none is found: some may fork meanwhile. @returns how many there were */
async function endAll(find: () => number[]): Promise<number> {
    const ended = new Set<number>();
    for (let found = find(); found.length > 0; found = find()) {
        await endProcesses(found, 0);
        found.forEach((pid) => ended.add(pid));
    }
    return ended.size;
}

function isNoHolder(pid: number): boolean {
    return pid !== process.pid && !possibleNodes.some((node) => runningComponent(namespaceHolder(node))?.pid === pid);
}

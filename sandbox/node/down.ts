import { rmSync } from "node:fs";
import { removeTree } from "../../toolchain/parts/store";
import { cgroupProcesses, cgroupsExist, removeCgroups } from "./cgroups";
import { restoreHostSettings } from "./host-settings";
import { type NodeLayout, nodeLayout } from "./layout";
import { type NodeReporter, stderrReporter, withNodeLock } from "./lock";
import { namespaceHolder, processesInNamespaces, removeMountPoints } from "./namespaces";
import { networkExists, removeNetwork } from "./network";
import { endProcesses, recordedComponents, runningComponent, stopComponent } from "./processes";

/** How long containers may take to end before they are killed. */
const podGraceSeconds = 5;

/**
 * Stops the node and removes all that it added to the host, however broken it is. The cluster's objects, images and
 * volumes are kept for the next `sandboxUp`.
 *
 * @returns whether there was anything to stop.
 */
export async function sandboxDown(reporter = stderrReporter()): Promise<boolean> {
    const layout = nodeLayout();
    return withNodeLock(layout, reporter, () => takeDown(layout, reporter));
}

/** Also removes the node's state: cluster, images, volumes, certificates. Built parts stay. */
export async function sandboxDestroy(reporter = stderrReporter()): Promise<void> {
    const layout = nodeLayout();
    await withNodeLock(layout, reporter, async () => {
        await takeDown(layout, reporter);
        reporter.step("Removing the cluster, its images and its volumes");
        removeTree(layout.root);
    });
}

/** {@link sandboxDown} for a caller that holds the lock. */
export async function takeDown(layout: NodeLayout, reporter: NodeReporter): Promise<boolean> {
    if (!somethingIsThere(layout)) return false;
    reporter.step("Stopping the node");
    // First the two that would start containers again.
    await Promise.all([stopComponent(layout, "kubelet"), stopComponent(layout, "sandbox-controller", 0)]);
    // Programs in pods may shut down: a database writes its last pages.
    await endProcesses(cgroupProcesses("pods"), podGraceSeconds);
    // etcd after its clients; the namespace holder last, since the others are found by it.
    const last = ["etcd", namespaceHolder];
    const rest = recordedComponents(layout).filter((name) => !last.includes(name));
    await Promise.all(rest.map((name) => stopComponent(layout, name, 2)));
    await stopComponent(layout, "etcd");
    // Processes without a record: shims, orphans, components of an `up` that was killed. Some may fork meanwhile:
    // repeat until none is left.
    const ended = new Set<number>();
    for (let strays = strayProcesses(layout); strays.length > 0; strays = strayProcesses(layout)) {
        await endProcesses(strays, 0);
        strays.forEach((pid) => ended.add(pid));
    }
    if (ended.size > 0) reporter.detail(`ended ${ended.size} more ${ended.size === 1 ? "process" : "processes"}`);
    reporter.step("Removing the node's changes to this machine");
    await stopComponent(layout, namespaceHolder, 0);
    await removeNetwork();
    await removeCgroups();
    restoreHostSettings(layout);
    removeMountPoints();
    for (const folder of [layout.run, layout.containerdState, layout.podAddresses]) {
        rmSync(folder, { recursive: true, force: true });
    }
    return true;
}

function somethingIsThere(layout: NodeLayout): boolean {
    return recordedComponents(layout).length > 0 || cgroupsExist() || networkExists();
}

function strayProcesses(layout: NodeLayout): number[] {
    const holder = runningComponent(layout, namespaceHolder)?.pid;
    return [...new Set([...cgroupProcesses(), ...processesInNamespaces(layout)])].filter(
        (pid) => pid !== holder && pid !== process.pid,
    );
}

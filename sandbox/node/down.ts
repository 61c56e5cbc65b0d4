import { rmSync } from "node:fs";
import { removeTree } from "../../toolchain/parts/store";
import { cgroupProcesses, cgroupsExist, removeCgroups } from "./cgroups";
import { restoreHostSettings } from "./host-settings";
import { layout } from "./layout";
import { detail, step, withNodeLock } from "./lock";
import { processesInNamespaces, removeMountPoints } from "./namespaces";
import { networkExists, removeNetwork } from "./network";
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
    if (recordedComponents().length === 0 && !cgroupsExist() && !networkExists()) return false;
    step("Stopping the node");
    // First the two that would start containers again.
    await Promise.all([stopComponent("kubelet"), stopComponent("sandbox-controller", 0)]);
    // Programs in pods may shut down: a database writes its last pages.
    await endProcesses(cgroupProcesses("pods"), podGraceSeconds);
    // etcd after its clients; the namespace holder last, since the others are found by it.
    const last = ["etcd", namespaceHolder];
    const rest = recordedComponents().filter((name) => !last.includes(name));
    await Promise.all(rest.map((name) => stopComponent(name, 2)));
    await stopComponent("etcd");
    // Processes without a record: shims, orphans, components of an `up` that was killed. Some may fork meanwhile:
    // repeat until none is left.
    const ended = new Set<number>();
    for (let strays = strayProcesses(); strays.length > 0; strays = strayProcesses()) {
        await endProcesses(strays, 0);
        strays.forEach((pid) => ended.add(pid));
    }
    if (ended.size > 0) detail(`ended ${ended.size} more ${ended.size === 1 ? "process" : "processes"}`);
    step("Removing the node's changes to this machine");
    await stopComponent(namespaceHolder, 0);
    await removeNetwork();
    await removeCgroups();
    restoreHostSettings();
    removeMountPoints();
    for (const folder of [layout.run, layout.containerdState, layout.podAddresses])
        rmSync(folder, { recursive: true, force: true });
    return true;
}

function strayProcesses(): number[] {
    const holder = runningComponent(namespaceHolder)?.pid;
    return [...new Set([...cgroupProcesses(), ...processesInNamespaces()])].filter(
        (pid) => pid !== holder && pid !== process.pid,
    );
}

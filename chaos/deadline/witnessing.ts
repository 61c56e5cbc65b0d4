import { connect, createServer } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { annotations, labels, targetLabelOf } from "../cluster/labels";
import type { KeptTargets } from "../definition/plan";
import type { Pod } from "../targets/containers";
import { endpointsOf, listed, log, patch } from "./api";
import { ControlConnection } from "./control-connection";
import { inTurns } from "./in-turns";
import type { JobLog } from "./job-log";
import { KeptConnections } from "./kept-connections";
import { keptTargets } from "./lease-look";
import { addressOf, type JobAttack, type LeaseOfRun, maxKept, type Presence } from "./protocol";

const connectTimeoutMs = 1_000;
/**
 * Time between reports. While the targets can be reached, the attack may take effect at any moment, which starts the
 * check.
 */
const pauseMs = { open: 100, closed: 250 };
/** Large looks are rarer: at most 1,000 connections per second. */
const msPerEndpoint = 1;
/**
 * Connections that are tried at a time. 2,000 dropped ones take two seconds then: a look must end well within the ten
 * seconds after which the proof calls the Job silent.
 */
const maxConnecting = 1_000;

/** What is kept of a pod that an attack has labeled. */
interface LabeledPod {
    name: string;
    label: string;
    /** `address:port` of every TCP port that the pod declares. */
    endpoints: string[];
}

/** The pods that some attacks have labeled. */
export async function labeledPods(namespace: string, attacks: readonly JobAttack[]): Promise<LabeledPod[]> {
    const selector = `${labels.target} in (${attacks.map(({ label }) => label).join()})`;
    const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(selector)}`;
    const pods: LabeledPod[] = [];
    for await (const pod of listed<Pod>(path, "the targets cannot be listed"))
        pods.push({ name: pod.metadata!.name!, label: targetLabelOf(pod)!, endpoints: endpointsOf(pod) });
    return pods;
}

/**
 * Tries to connect to every port of every labeled pod, again and again, and logs what has changed. Also keeps
 * connections open, as the lease says, and logs what becomes of them.
 *
 * @param ending no pod is announced any more: an attack must not begin on a pod that is labeled while this Job ends
 */
export async function witness(
    namespace: string,
    attacks: readonly JobAttack[],
    lease: LeaseOfRun,
    jobLog: JobLog,
    ending: AbortSignal,
): Promise<void> {
    let endpoints: string[] = [];
    let announced: string | undefined;
    let toKeep: KeptTargets | undefined;
    const kept = new KeptConnections();
    const controlConnection = new ControlConnection(namespace, kept);
    const announceChange = async () => {
        const watched = endpoints.join();
        if (watched === announced) return;
        if (await announce(namespace, endpoints).then(() => true, log)) announced = watched;
    };
    // Before the first look: the address that targets can connect to is needed at once.
    await announceChange();
    for (;;) {
        toKeep ??= (await keptTargets(lease).catch(log)) ?? undefined;
        const at = Date.now();
        const states = kept.states();
        // If the API server does not answer, the targets are the last known ones.
        const pods = await labeledPods(namespace, attacks).catch(log);
        if (ending.aborted) return;
        endpoints = pods?.flatMap((pod) => pod.endpoints) ?? endpoints;
        const accepted = await inTurns(endpoints, maxConnecting, accepts);
        const open = endpoints.filter((_, index) => accepted[index]);
        const closed = endpoints.filter((_, index) => !accepted[index]);
        jobLog.looked({ at, open, closed, kept: states });
        // Before the targets are announced: an attack may begin then.
        if (pods && toKeep) {
            const targets = targetsToKeep(pods, toKeep);
            if (targets.length > 0) controlConnection.tend(pods.map(({ name }) => name));
            const accepting = new Set(open);
            await kept.keep(targets, (endpoint) => accepting.has(endpoint));
        }
        await announceChange();
        const pause = closed.length > 0 ? pauseMs.closed : pauseMs.open;
        await sleep(Math.max(0, at + Math.max(pause, endpoints.length * msPerEndpoint) - Date.now()));
    }
}

/** The attacked endpoints of each target that a connection is kept to. */
function targetsToKeep(pods: readonly LabeledPod[], toKeep: KeptTargets): string[][] {
    return Object.entries(toKeep).flatMap(([label, { ports }]) => {
        const isAttacked = (endpoint: string) => ports?.includes(addressOf(endpoint).port) ?? true;
        const targets = pods.filter((pod) => pod.label === label).slice(0, maxKept);
        return targets.map(({ endpoints }) => endpoints.filter(isAttacked));
    });
}

/** Notes in this pod's annotation which ports it watches, and where targets can connect to it. */
async function announce(namespace: string, watched: string[]): Promise<void> {
    const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
    const presence: Presence = { address: addresses.find(({ internal }) => !internal)!.address, watched };
    const body = { metadata: { annotations: { [annotations.witness]: JSON.stringify(presence) } } };
    const { status } = await patch(`/api/v1/namespaces/${namespace}/pods/${hostname()}`, body);
    if (status >= 300) throw new Error(`this pod cannot be annotated: ${status}`);
}

/** Accepts connections on a port and closes them at once: the proof asks only whether targets can connect. */
export function acceptConnections(port: number): void {
    createServer((socket) => socket.on("error", log).end())
        .on("error", log)
        .listen(port);
}

/** Whether a fresh connection is accepted. */
function accepts(address: string): Promise<boolean> {
    return new Promise((resolve) => {
        const socket = connect({ ...addressOf(address), timeout: connectTimeoutMs });
        const settle = (accepted: boolean) => {
            socket.destroy();
            resolve(accepted);
        };
        socket
            .once("connect", () => settle(true))
            .once("error", () => settle(false))
            .once("timeout", () => settle(false));
    });
}

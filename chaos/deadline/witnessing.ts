import { connect, createServer } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { annotations, labels } from "../cluster/labels";
import { listed, log, patch } from "./api";
import { inTurns } from "./in-turns";
import type { JobLog } from "./job-log";
import { endpoint, type JobAttack, type Presence } from "./protocol";

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

interface Pod {
    metadata: { name: string };
    spec: { containers: { ports?: { containerPort: number; protocol?: string }[] }[] };
    status: { podIP?: string };
}

/** What is kept of a pod that an attack has labeled. */
interface LabeledPod {
    name: string;
    /** `address:port` of every TCP port that the pod declares. */
    endpoints: string[];
}

/** The pods that some attacks have labeled. */
export async function labeledPods(namespace: string, attacks: readonly JobAttack[]): Promise<LabeledPod[]> {
    const selector = `${labels.target} in (${attacks.map(({ label }) => label).join()})`;
    const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(selector)}`;
    const pods: LabeledPod[] = [];
    for await (const pod of listed<Pod>(path, "the targets cannot be listed"))
        pods.push({ name: pod.metadata.name, endpoints: endpointsOf(pod) });
    return pods;
}

/**
 * Tries to connect to every port of every labeled pod, again and again, and logs what has changed.
 *
 * @param ending no pod is announced any more: an attack must not begin on a pod that is labeled while this Job ends
 */
export async function witness(
    namespace: string,
    attacks: readonly JobAttack[],
    jobLog: JobLog,
    ending: AbortSignal,
): Promise<void> {
    let endpoints: string[] = [];
    let announced: string | undefined;
    const announceChange = async () => {
        const watched = endpoints.join();
        if (watched === announced) return;
        if (await announce(namespace, endpoints).then(() => true, log)) announced = watched;
    };
    // Before the first look: the address that targets can connect to is needed at once.
    await announceChange();
    for (;;) {
        const at = Date.now();
        // If the API server does not answer, the targets are the last known ones.
        const pods = await labeledPods(namespace, attacks).catch(log);
        if (ending.aborted) return;
        endpoints = pods?.flatMap((pod) => pod.endpoints) ?? endpoints;
        const accepted = await inTurns(endpoints, maxConnecting, accepts);
        const open = endpoints.filter((_, index) => accepted[index]);
        const closed = endpoints.filter((_, index) => !accepted[index]);
        jobLog.looked({ at, open, closed });
        await announceChange();
        const pause = closed.length > 0 ? pauseMs.closed : pauseMs.open;
        await sleep(Math.max(0, at + Math.max(pause, endpoints.length * msPerEndpoint) - Date.now()));
    }
}

/** `address:port` of every TCP port that a pod declares. */
function endpointsOf({ spec, status }: Pod): string[] {
    const { podIP } = status;
    if (podIP === undefined) return [];
    const ports = spec.containers.flatMap((container) => container.ports ?? []);
    return ports
        .filter(({ protocol = "TCP" }) => protocol === "TCP")
        .map(({ containerPort }) => endpoint(podIP, containerPort));
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
    const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(address)!;
    return new Promise((resolve) => {
        const socket = connect({ host, port: Number(port), timeout: connectTimeoutMs });
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

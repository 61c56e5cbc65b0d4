import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { JobPart } from "../kinds/attacks/job-part";
import { stalledBetween, watchStalls } from "../kinds/checks/stalls";
import { ownApiServer } from "../cluster/in-cluster-api";
import { annotations, labels, targetLabelOf } from "../cluster/labels";
import type { KeptTargets } from "../definition/plan";
import type { Pod } from "../targets/containers";
import { accepts, EarlyConnections, RareConnections } from "./accepts";
import { endpointsOf, itemsOf, log, noteOnOwnPod } from "./api";
import { inTurns } from "../values/async";
import { groupedBy } from "../values/grouped";
import type { JobLog } from "./job-log";
import { KeptConnections } from "./kept-connections";
import { toldByLease } from "./lease-look";
import { apiServer, type JobAttack, type LeaseOfRun, maxKept, type Presence, reference } from "./protocol";
import { endpoint, parseEndpoint } from "../values/endpoint";
import { ReferencePods } from "./reference-pods";
import type { AttackedPod } from "./target-events";

/**
 * Time between reports. While the targets can be reached, the attack may take effect at any moment, which starts the
 * check.
 */
const pauseMs = { open: 100, closed: 250 };
/** Large looks are rarer: at most 1,000 connections per second. */
const msPerEndpoint = 1;
/**
 * Connections that are tried at a time. 2,000 dropped ones take four seconds then: a look must end well within the ten
 * seconds after which the proof calls the Job silent. With 1,000 at a time the Job would need 4 MiB more.
 */
const maxConnecting = 500;

/**
 * After a longer stall of this process, in milliseconds, a try may look as if it had failed by its time limit although
 * the connection was accepted: nothing follows for the time since it began.
 */
const maxStallMs = 500;

/** What is kept of a pod that an attack has labeled. */
interface LabeledPod extends AttackedPod {
    /** Of every TCP port that the pod declares. */
    endpoints: string[];
}

async function labeledPods(namespace: string, attacks: readonly JobAttack[]): Promise<LabeledPod[]> {
    const selector = `${labels.target} in (${attacks.map(({ label }) => label).join()})`;
    const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(selector)}`;
    const pods: LabeledPod[] = [];
    for await (const pod of itemsOf<Pod>(path, "the targets cannot be listed")) {
        const { metadata } = pod;
        const { name, uid, resourceVersion } = metadata as { name: string; uid: string; resourceVersion?: string };
        pods.push({
            name,
            uid,
            resourceVersion,
            label: targetLabelOf(pod) ?? "",
            begunIn: metadata!.annotations?.[annotations.begun],
            combined: metadata!.labels?.[labels.combined],
            endpoints: endpointsOf(pod),
        });
    }
    return pods;
}

/**
 * Tries to connect to every port of every labeled pod, again and again, and logs what has changed: rarely to those that
 * no attack blocks. Before the attacks, it says nothing until its short tries are over. Also keeps connections open, as
 * the lease says, and one to the API server to compare them with, and logs what becomes of them. If an attack blocks
 * all ports, it also tries to connect to pods that no attack touches.
 *
 * @param addresses of this pod
 * @param ending no pod is announced any more: an attack must not begin on a pod that is labeled while this Job ends
 * @param parts what these have found is logged, too
 * @param found is told the labeled pods of each look
 */
export async function witness(
    namespace: string,
    attacks: readonly JobAttack[],
    lease: LeaseOfRun,
    jobLog: JobLog,
    {
        addresses,
        ending,
        parts,
        found,
    }: {
        addresses: string[];
        ending: AbortSignal;
        parts: readonly JobPart[];
        found: (pods: readonly AttackedPod[]) => void;
    },
): Promise<void> {
    const begun = Math.round(performance.timeOrigin);
    let pods: LabeledPod[] | undefined;
    let endpoints: string[] = [];
    let closed: string[] = [];
    let announced: string | undefined;
    let toKeep: KeptTargets | undefined;
    // From a start before the attacks until the first targets are announced: later, a short try that times out may be
    // a slow target under attack.
    let early: EarlyConnections | undefined;
    const kept = new KeptConnections();
    const rare = new RareConnections();
    const referencePods = new ReferencePods(namespace);
    const announceChange = async () => {
        const presence: Presence = { address: addresses[0]!, addresses, watched: endpoints, closed, begun };
        const toAnnounce = JSON.stringify(presence);
        if (toAnnounce === announced) return;
        if (await announce(namespace, toAnnounce).then(() => true, log)) announced = toAnnounce;
    };
    // Before the first look: the address that targets can connect to is needed at once.
    await announceChange();
    for (;;) {
        if (toKeep === undefined) {
            const told = (await toldByLease(lease).catch(log)) ?? undefined;
            toKeep = told?.kept;
            if (told?.hasNotBegun) early = new EarlyConnections();
        }
        const at = Date.now();
        const states = kept.states();
        // If the API server does not answer, the targets are the last known ones.
        pods = (await labeledPods(namespace, attacks).catch(log)) ?? pods;
        if (ending.aborted) return;
        if (pods === undefined) {
            await sleep(pauseMs.closed);
            continue;
        }
        found(pods);
        endpoints = pods.flatMap((pod) => pod.endpoints);
        const targets = targetsToKeep(pods, toKeep);
        const attacked = new Set(pods.flatMap((pod) => attackedOf(pod, toKeep)));
        const begunTrying = performance.now();
        let triedAt = begunTrying;
        const unwatch = watchStalls();
        const accepted = await inTurns(endpoints, maxConnecting, (one) => {
            const accepting = attacked.has(one) ? accepts(one, early) : rare.accepts(one, early);
            // Node.js sends the first packet in a tick that was queued before this one.
            process.nextTick(() => (triedAt = performance.now()));
            return accepting;
        });
        const isStalled = stalledBetween(begunTrying).longestMs > maxStallMs;
        unwatch();
        if (early?.areOver(endpoints)) early = undefined;
        const open = endpoints.filter((_, index) => accepted[index]);
        closed = endpoints.filter((_, index) => !accepted[index]);
        const isAnyCutOff = pods.some(({ label }) => toKeep?.[label] && !toKeep[label].ports);
        const referenceIf = (state: boolean) => (isAnyCutOff && referencePods.accept === state ? [reference] : []);
        jobLog.looked({
            at,
            open: [...open, ...referenceIf(true), ...parts.flatMap(({ last }) => last?.open ?? [])],
            closed: [...closed, ...referenceIf(false), ...parts.flatMap(({ last }) => last?.closed ?? [])],
            triedMs: isStalled ? undefined : Math.floor(performance.now() - triedAt),
            kept: states,
        });
        if (isAnyCutOff) referencePods.tend(pods.map(({ name }) => name));
        // Before the targets are announced: an attack may begin then.
        const accepting = new Set(open);
        const { host, port } = ownApiServer;
        await Promise.all([
            kept.keep(targets, (one) => accepting.has(one)),
            targets.length > 0 && kept.lacks(apiServer) && kept.open(apiServer, endpoint(host!, Number(port))),
        ]);
        // Not before: if a target is announced as closed, the run waits for the Job's log, up to a second.
        if (early === undefined) await announceChange();
        const pause = closed.length > 0 ? pauseMs.closed : pauseMs.open;
        await sleep(Math.max(0, at + Math.max(pause, endpoints.length * msPerEndpoint) - Date.now()));
    }
}

/** The endpoints of a pod to which an attack blocks connections from this one. */
function attackedOf({ label, endpoints }: Pick<LabeledPod, "label" | "endpoints">, toKeep: KeptTargets = {}): string[] {
    const blocked = toKeep[label];
    return endpoints.filter((one) => blocked && (blocked.ports?.includes(parseEndpoint(one).port) ?? true));
}

/**
 * The attacked endpoints of each address that a connection is kept to: a network may cut those of one family and not of
 * the other.
 */
export function targetsToKeep(pods: readonly Pick<LabeledPod, "label" | "endpoints">[], toKeep: KeptTargets = {}) {
    return Object.keys(toKeep).flatMap((label) => {
        const targets = pods.filter((pod) => pod.label === label);
        return targets.flatMap((pod) => [...groupedBy(attackedOf(pod, toKeep), hostOf).values()]).slice(0, maxKept);
    });
}

const hostOf = (endpoint: string) => parseEndpoint(endpoint).host;

/** Notes in this pod's annotation what it watches and cannot reach, and where targets can connect to it. */
async function announce(namespace: string, presence: string): Promise<void> {
    await noteOnOwnPod(namespace, { annotations: { [annotations.witness]: presence } });
}

/** Accepts connections on a port and closes them at once: the proof asks only whether targets can connect. */
export function acceptConnections(port: number): void {
    createServer((socket) => socket.on("error", log).end())
        .on("error", log)
        .listen(port);
}

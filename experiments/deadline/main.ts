/**
 * Runs in the cluster, in the pod of an experiment's deadline Job, and does two things while its attacks last:
 *
 * It ends them at the deadline, by removing their objects and the targets' labels, and gives Deployments that were scaled
 * meanwhile their number of pods back, whatever became of the machine that ran the update. The deadline counts from the
 * objects' creation, so that neither a restart of this pod nor a slow start moves it. Where an attack is to kill pods, it
 * does that, too.
 *
 * And it is the witness: an ordinary pod that tries to connect to the marked pods, again and again. Its log, one
 * `ConnectionReport` a line, is the proof that the attacks work, or that they do not. For the other direction it takes
 * connections from the targets.
 */
import { connect, createServer } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { annotations, labels } from "../../shared/labels";
import { restoring, type Scalable } from "../actions/scaling";
import { api, expect, say } from "./api";
import { killWhile } from "./kill";
import { type ConnectionReport, type DeadlineEnvironment, endpoint, type JobAttack, type Presence } from "./report";

const { NAMESPACE, ATTACKS, SCALED, DEADLINE_MS } = process.env as unknown as DeadlineEnvironment;
const attacks = JSON.parse(ATTACKS) as JobAttack[];
const deadlineMs = Number(DEADLINE_MS);
const podsPath = `/api/v1/namespaces/${NAMESPACE}/pods`;
const connectTimeoutMs = 1_000;
/** Between reports: while the targets can be reached the attack may take hold at any moment, which starts the check. */
const pauseMs = { open: 100, closed: 250 };

async function main(): Promise<void> {
    const begun = Date.now();
    for (const port of new Set(attacks.flatMap(({ listenPort }) => listenPort ?? []))) listen(port);
    void witness();
    for (const { path, killing } of attacks) if (killing) void killWhile(() => lasts(path), NAMESPACE, killing);
    for (;;) {
        const created = await attackedSince().catch(say);
        // Attacks that never come: the update that was to make them is gone. Their labels must go all the same.
        if (Date.now() >= (created ?? begun) + deadlineMs && (await endAttacks().then(() => true, say))) return;
        await sleep(1_000);
    }
}

async function lasts(path: string): Promise<boolean> {
    const created = await creationOf(path);
    return created !== undefined && Date.now() < created + deadlineMs;
}

/** When the first of the attacks' objects was made; undefined while there is none. */
async function attackedSince(): Promise<number | undefined> {
    const created = (await Promise.all(attacks.map(({ path }) => creationOf(path)))).filter((at) => at !== undefined);
    return created.length === 0 ? undefined : Math.min(...created);
}

/** When each attack's object was first seen, by this node's clock. */
const firstSeen = new Map<string, number>();

/**
 * When an attack's object was made, in milliseconds since the epoch; undefined while it is not there. No later than it was
 * seen: this node's clock may be behind the API server's, and would prolong the attack by as much.
 */
async function creationOf(path: string): Promise<number | undefined> {
    const { status, body } = await api("GET", path);
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(`the attack cannot be read: ${status}`);
    const created = Date.parse(
        (JSON.parse(body) as { metadata: { creationTimestamp: string } }).metadata.creationTimestamp,
    );
    const seen = firstSeen.get(path) ?? Date.now();
    firstSeen.set(path, seen);
    return Math.min(created, seen);
}

async function endAttacks(): Promise<void> {
    await Promise.all(
        attacks.map(async ({ path }) => expect(await api("DELETE", path), "an attack cannot be removed")),
    );
    for (const { metadata } of await markedPods()) {
        expect(
            await api("PATCH", `${podsPath}/${metadata.name}`, { metadata: { labels: { [labels.target]: null } } }),
            "a label cannot be removed",
        );
    }
    await Promise.all(
        SCALED.split(",")
            .filter((name) => name !== "")
            .map(restore),
    );
    say(`the deadline has passed: ${attacks.length === 1 ? "the attack is" : "the attacks are"} ended`);
}

/** Gives a Deployment its number of pods back, where the experiment has scaled it. A change that crosses another's is refused (409), and tried again. */
async function restore(name: string): Promise<void> {
    const path = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/${name}`;
    const read = await api("GET", path);
    const body =
        read.status === 404
            ? undefined
            : restoring(JSON.parse(expect(read, "a Deployment cannot be read")) as Scalable);
    if (body) expect(await api("PATCH", path, body), "a Deployment cannot be scaled back");
}

interface Pod {
    metadata: { name: string };
    spec: { containers: { ports?: { containerPort: number; protocol?: string }[] }[] };
    status: { podIP?: string };
}

async function markedPods(): Promise<Pod[]> {
    const selector = `${labels.target} in (${attacks.map(({ mark }) => mark).join()})`;
    const listed = expect(
        await api("GET", `${podsPath}?labelSelector=${encodeURIComponent(selector)}`),
        "the targets cannot be listed",
    );
    return (JSON.parse(listed) as { items: Pod[] }).items;
}

/** `address:port` of every TCP port that a pod declares. */
function endpointsOf({ spec, status }: Pod): string[] {
    const ports = spec.containers
        .flatMap((container) => container.ports ?? [])
        .filter(({ protocol = "TCP" }) => protocol === "TCP");
    return status.podIP === undefined ? [] : ports.map(({ containerPort }) => endpoint(status.podIP!, containerPort));
}

async function witness(): Promise<void> {
    let endpoints: string[] = [];
    let announced: string | undefined;
    const announceAnew = async () => {
        const watched = endpoints.join();
        if (watched !== announced && (await announce(endpoints).then(() => true, say))) announced = watched;
    };
    // Before it has looked at anybody: where the targets can connect to is of use at once.
    await announceAnew();
    for (;;) {
        const at = Date.now();
        // Where the API server does not answer, the targets are still the ones that they were.
        endpoints = (await markedPods().catch(say))?.flatMap(endpointsOf) ?? endpoints;
        const open = await Promise.all(endpoints.map(accepts));
        const report: ConnectionReport = {
            at,
            open: endpoints.filter((_, index) => open[index]),
            closed: endpoints.filter((_, index) => !open[index]),
        };
        process.stdout.write(`${JSON.stringify(report)}\n`);
        await announceAnew();
        const pause = report.closed.length > 0 ? pauseMs.closed : pauseMs.open;
        await sleep(Math.max(0, at + pause - Date.now()));
    }
}

/** Says in this pod's annotation whom it watches, and where the targets can connect to it. */
async function announce(watched: string[]): Promise<void> {
    const [address] = Object.values(networkInterfaces()).flatMap((addresses) =>
        addresses!.filter(({ internal }) => !internal),
    );
    const presence: Presence = { address: address!.address, watched };
    const body = { metadata: { annotations: { [annotations.witness]: JSON.stringify(presence) } } };
    const { status } = await api("PATCH", `${podsPath}/${hostname()}`, body);
    if (status >= 300) throw new Error(`this pod cannot be annotated: ${status}`);
}

/** Takes connections and ends them at once: whether the targets can make one at all is what the proof asks. */
function listen(port: number): void {
    createServer((socket) => socket.on("error", say).end())
        .on("error", say)
        .listen(port);
}

/** Whether a fresh connection is accepted. */
function accepts(endpoint: string): Promise<boolean> {
    const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(endpoint)!;
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

// Not 0: a node that shuts down, or is drained, ends the pod before its work is done, and the Job must have another then.
for (const [signal, number] of [
    ["SIGTERM", 15],
    ["SIGINT", 2],
] as const)
    process.once(signal, () => process.exit(128 + number));
void main().then(
    () => process.exit(0),
    (error: unknown) => {
        say(error);
        process.exit(1);
    },
);

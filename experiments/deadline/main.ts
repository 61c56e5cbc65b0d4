/**
 * Runs in the cluster, in the pod of an experiment's deadline Job, and does two things while an attack lasts:
 *
 * It ends the attack at the deadline, by removing its object and the targets' labels, whatever became of the machine
 * that ran the update. The deadline counts from the object's creation, so that neither a restart of this pod nor a
 * slow start moves it. Where the attack is to kill pods, it does that, too.
 *
 * And it is the witness: an ordinary pod that tries to connect to the marked pods, again and again. Its log, one
 * `ConnectionReport` a line, is the proof that the attack works, or that it does not. For the other direction it takes
 * connections from the targets.
 */
import { connect, createServer } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { annotations } from "../../shared/labels";
import { api, expect, say } from "./api";
import { killWhile } from "./kill";
import { type ConnectionReport, type DeadlineEnvironment, endpoint, type Killing, type Presence } from "./report";

const { NAMESPACE, ATTACK_PATH, TARGET_SELECTOR, DEADLINE_MS, LISTEN_PORT, KILLING } = process.env as unknown as DeadlineEnvironment;
const deadlineMs = Number(DEADLINE_MS);
const podsPath = `/api/v1/namespaces/${NAMESPACE}/pods`;
const connectTimeoutMs = 1_000;
/** Between reports: while the targets can be reached the attack may take hold at any moment, which starts the check. */
const pauseMs = { open: 100, closed: 250 };

async function main(): Promise<void> {
    const begun = Date.now();
    if (LISTEN_PORT !== "") listen(Number(LISTEN_PORT));
    void witness();
    if (KILLING !== "") void killWhile(attackLasts, NAMESPACE, JSON.parse(KILLING) as Killing);
    for (;;) {
        const created = await attackCreation().catch(say);
        // An attack that never comes: the update that was to make it is gone. Its labels must go all the same.
        if (Date.now() >= (created ?? begun) + deadlineMs && (await endAttack().then(() => true, say))) return;
        await sleep(1_000);
    }
}

async function attackLasts(): Promise<boolean> {
    const created = await attackCreation();
    return created !== undefined && Date.now() < created + deadlineMs;
}

/** When the attack's object was made, in milliseconds since the epoch; undefined while it is not there. */
async function attackCreation(): Promise<number | undefined> {
    const { status, body } = await api("GET", ATTACK_PATH);
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(`the attack cannot be read: ${status}`);
    return Date.parse((JSON.parse(body) as { metadata: { creationTimestamp: string } }).metadata.creationTimestamp);
}

async function endAttack(): Promise<void> {
    expect(await api("DELETE", ATTACK_PATH), "the attack cannot be removed");
    const label = TARGET_SELECTOR.split("=")[0]!;
    for (const { metadata } of await markedPods()) {
        expect(await api("PATCH", `${podsPath}/${metadata.name}`, { metadata: { labels: { [label]: null } } }), "a label cannot be removed");
    }
    say("the deadline has passed: the attack is ended");
}

interface Pod {
    metadata: { name: string };
    spec: { containers: { ports?: { containerPort: number; protocol?: string }[] }[] };
    status: { podIP?: string };
}

async function markedPods(): Promise<Pod[]> {
    const listed = expect(await api("GET", `${podsPath}?labelSelector=${encodeURIComponent(TARGET_SELECTOR)}`), "the targets cannot be listed");
    return (JSON.parse(listed) as { items: Pod[] }).items;
}

/** `address:port` of every TCP port that a pod declares. */
function endpointsOf({ spec, status }: Pod): string[] {
    const ports = spec.containers.flatMap((container) => container.ports ?? []).filter(({ protocol = "TCP" }) => protocol === "TCP");
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
    const [address] = Object.values(networkInterfaces()).flatMap((addresses) => addresses!.filter(({ internal }) => !internal));
    const presence: Presence = { address: address!.address, watched };
    const body = { metadata: { annotations: { [annotations.witness]: JSON.stringify(presence) } } };
    const { status } = await api("PATCH", `${podsPath}/${hostname()}`, body);
    if (status >= 300) throw new Error(`this pod cannot be annotated: ${status}`);
}

/** Takes connections and ends them at once: whether the targets can make one at all is what the proof asks. */
function listen(port: number): void {
    createServer((socket) => socket.on("error", say).end()).on("error", say).listen(port);
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
        socket.once("connect", () => settle(true)).once("error", () => settle(false)).once("timeout", () => settle(false));
    });
}

for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => process.exit(0));
void main().then(
    () => process.exit(0),
    (error: unknown) => {
        say(error);
        process.exit(1);
    },
);

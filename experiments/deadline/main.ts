/**
 * Runs in the cluster, in the pod of an experiment's deadline Job, and does two things while an attack lasts:
 *
 * It ends the attack at the deadline, by removing the policy and the targets' labels, whatever became of the machine
 * that ran the update. The deadline counts from the policy's creation, so that neither a restart of this pod nor a
 * slow start moves it.
 *
 * And it is the witness: an ordinary pod that tries to connect to the marked pods, again and again. Its log, one
 * `ConnectionReport` a line, is the proof that the attack works, or that it does not. For the other direction it takes
 * connections from the targets.
 */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { connect, createServer } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { annotations } from "../../shared/labels";
import { type ConnectionReport, type DeadlineEnvironment, endpoint, type Presence } from "./report";

const { NAMESPACE, POLICY, TARGET_SELECTOR, DEADLINE_MS, LISTEN_PORT } = process.env as unknown as DeadlineEnvironment;
const deadlineMs = Number(DEADLINE_MS);
const account = "/var/run/secrets/kubernetes.io/serviceaccount";
const policyPath = `/apis/networking.k8s.io/v1/namespaces/${NAMESPACE}/networkpolicies/${POLICY}`;
const podsPath = `/api/v1/namespaces/${NAMESPACE}/pods`;
const connectTimeoutMs = 1_000;
/** Between reports: while the targets can be reached the attack may take hold at any moment, which starts the check. */
const pauseMs = { open: 100, closed: 250 };

async function main(): Promise<void> {
    const begun = Date.now();
    if (LISTEN_PORT !== "") listen(Number(LISTEN_PORT));
    void witness();
    for (;;) {
        const created = await policyCreation().catch(say);
        // A policy that never comes: the update that was to make it is gone. Its labels must go all the same.
        if (Date.now() >= (created ?? begun) + deadlineMs && (await endAttack().then(() => true, say))) return;
        await sleep(1_000);
    }
}

/** When the policy was made, in milliseconds since the epoch; undefined while it is not there. */
async function policyCreation(): Promise<number | undefined> {
    const { status, body } = await api("GET", policyPath);
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(`the policy cannot be read: ${status}`);
    return Date.parse((JSON.parse(body) as { metadata: { creationTimestamp: string } }).metadata.creationTimestamp);
}

async function endAttack(): Promise<void> {
    expect(await api("DELETE", policyPath), "the policy cannot be removed");
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

function expect({ status, body }: { status: number; body: string }, failure: string): string {
    if (status >= 300 && status !== 404) throw new Error(`${failure}: ${status}`);
    return body;
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

/** Asks the API server as this pod's own account; the token is read each time, since the kubelet renews it. */
function api(method: string, path: string, merge?: object): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
        const call = request(
            {
                host: process.env.KUBERNETES_SERVICE_HOST,
                port: process.env.KUBERNETES_SERVICE_PORT,
                method,
                path,
                agent: false,
                ca: readFileSync(`${account}/ca.crt`),
                timeout: 5_000,
                headers: { authorization: `Bearer ${readFileSync(`${account}/token`, "utf8")}`, "content-type": "application/merge-patch+json" },
            },
            (response) => {
                let body = "";
                response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
                response.on("end", () => resolve({ status: response.statusCode!, body }));
            },
        );
        call.on("timeout", () => call.destroy(new Error("the API server did not answer within 5 s")));
        call.on("error", reject);
        call.end(merge && JSON.stringify(merge));
    });
}

function say(message: unknown): undefined {
    process.stderr.write(`${message instanceof Error ? message.message : String(message)}\n`);
}

for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => process.exit(0));
void main().then(
    () => process.exit(0),
    (error: unknown) => {
        say(error);
        process.exit(1);
    },
);

/** Pods that open connections to each other, and the policies between them, for the facts of docs/networks.md. */
import { setTimeout as sleep } from "node:timers/promises";
import { apply, createNamespace, kubectl, nodePod, ready, runInPod } from "../e2e/support";

export const namespace = "sandbox-network-facts";
export const hostNamespace = "sandbox-network-facts-host";
/** Where the pod on its node's own network listens. */
export const hostPort = 18_080;

/** A policy, and the pods that it selects by their label `app`. */
export interface Policy {
    on: string;
    ways: ("Ingress" | "Egress")[];
    /** @default none is allowed */
    ingress?: { from?: object[]; ports?: object[] }[];
    /** @default none is allowed */
    egress?: { to?: object[]; ports?: object[] }[];
}

const policyOf = ({ on, ways, ingress, egress }: Policy, index: number) => ({
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: `fact-${index}`, labels: { of: "fact" } },
    spec: { podSelector: { matchLabels: { app: on } }, policyTypes: ways, ingress, egress },
});

/** Sends back what it gets, at three ports, of which the first has the name `web`. */
const echoes = (...ports: number[]) =>
    ports.map((port) => `require("net").createServer((s) => s.on("error", () => 0).pipe(s)).listen(${port});`).join("");
const container = { ports: [{ name: "web", containerPort: 8080 }, { containerPort: 8081 }] };

/** Each pod of these tests listens at 8080, 8081 and 8090. */
const factPod = (name: string, nodeName: string) =>
    nodePod(name, echoes(8080, 8081, 8090), { nodeName, terminationGracePeriodSeconds: 1 }, container);

/** Creates pods on the first node and, if there are two, the pod `far` on the second. @returns how to remove them */
export async function createFactPods(): Promise<() => Promise<unknown>> {
    const [first, second] = (await kubectl(["get", "nodes", "-o", "jsonpath={.items[*].metadata.name}"]))
        .split(" ")
        .sort();
    const removals = await Promise.all([createNamespace(namespace), createNamespace(hostNamespace, "privileged")]);
    const near = ["client", "target", "stranger", "sentinel", "watcher"];
    const onHost = { nodeName: first, hostNetwork: true, terminationGracePeriodSeconds: 1 };
    await Promise.all([
        apply(
            namespace,
            ...near.map((name) => factPod(name, first!)),
            ...(second ? [factPod("far", second)] : []),
            service("target", "LoadBalancer", "target"),
            service("nobody", "ClusterIP", "nobody"),
        ),
        apply(hostNamespace, nodePod("host", echoes(hostPort), onHost, { port: hostPort })),
    ]);
    await Promise.all([ready(namespace, ...near, ...(second ? ["far"] : [])), ready(hostNamespace, "host")]);
    return () => Promise.all(removals.map((remove) => remove()));
}

const service = (name: string, type: string, app: string) => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { type, selector: { app }, ports: [{ port: 80, targetPort: 8080 }] },
});

const namespaceOf = (pod: string) => (pod === "host" ? hostNamespace : namespace);

/** The IPv4 address of a pod. */
export const addressOf = (pod: string) =>
    kubectl(["-n", namespaceOf(pod), "get", "pod", pod, "-o", "jsonpath={.status.podIP}"]);

/** Runs a program in one of the pods. */
export const run = (pod: string, program: string) => runInPod(namespaceOf(pod), pod, program);

/** How a fresh connection is tried, as a part of a program. */
export const attempt = `
    const attempt = (to, timeoutMs) => new Promise((resolve) => {
        const [host, port] = to.split(":");
        const socket = require("net").connect({ host, port: Number(port) });
        const end = (outcome) => { socket.destroy(); resolve(outcome); };
        socket.setTimeout(timeoutMs, () => end("time-out")).on("connect", () => end("allowed"));
        socket.on("error", ({ code }) => end(code === "ECONNREFUSED" ? "refused" : code));
    });
    const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));`;

type OutcomeOfEach<To extends readonly string[]> = { [Index in keyof To]: string };

/** Tries fresh connections at once. @returns of each: `allowed`, `refused`, `time-out`, or another error's code */
export async function connections<To extends readonly string[]>(from: string, ...to: To): Promise<OutcomeOfEach<To>> {
    const all = `Promise.all(${JSON.stringify(to)}.map((one) => attempt(one, 1_500)))`;
    const ended = await run(from, `${attempt} ${all}.then((ended) => console.log(ended.join(" ")));`);
    return ended.split(" ") as OutcomeOfEach<To>;
}

/**
 * Does something while policies are enforced. Another policy comes with them, for a pod that does nothing else: once
 * that is closed, so are the others.
 */
export async function under<T>(policies: Policy[], act: () => Promise<T>): Promise<T> {
    const sentinel: Policy = { on: "sentinel", ways: ["Ingress"] };
    await apply(namespace, ...[...policies, sentinel].map(policyOf));
    try {
        await sentinelIs("closed");
        return await act();
    } finally {
        await kubectl(["-n", namespace, "delete", "networkpolicy", "-l", "of=fact"]);
        await sentinelIs("open");
    }
}

/** Waits for it, and half a second longer: an agent may make the rules of one pod after those of another. */
async function sentinelIs(state: "open" | "closed"): Promise<void> {
    const to = `${await addressOf("sentinel")}:8080`;
    const program = `${attempt}
        (async () => {
            const giveUpAt = Date.now() + 15_000;
            while (((await attempt("${to}", 500)) === "allowed") !== ${state === "open"} && Date.now() < giveUpAt)
                await pause(50);
            console.log(Date.now() < giveUpAt ? "${state}" : "not ${state} after 15 s");
        })();`;
    const seen = await run("watcher", program);
    if (seen !== state) throw new Error(`the pod sentinel: ${seen}`);
    await sleep(500);
}

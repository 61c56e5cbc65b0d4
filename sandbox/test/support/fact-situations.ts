/** What is seen while some policies are enforced, each on pods that do not affect those of the others. */
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { addresses } from "../../node/addresses";
import { apply, eventually, kubectl } from "../e2e/support";
import { addressOf, connections, hostNamespace, hostPort, namespace, type Policy, under } from "./fact-pods";

/** IPv4 addresses of the pods, of the first node, and of Services: of the pod `target`, and of no pod. */
export type Addresses = Record<
    "client" | "target" | "stranger" | "watcher" | "node" | "service" | "nobody" | "loadBalancer",
    string
>;

export async function findAddresses(): Promise<Addresses> {
    const of = (name: string, path: string) =>
        kubectl(["-n", namespace, "get", "service", name, "-o", `jsonpath={${path}}`]);
    const external = () => of("target", ".status.loadBalancer.ingress[0].ip");
    await eventually(external, Boolean);
    const [client, target, stranger, watcher, node, service, nobody, loadBalancer] = (await Promise.all([
        ...["client", "target", "stranger", "watcher", "host"].map(addressOf),
        ...["target", "nobody"].map((name) => of(name, ".spec.clusterIP")),
        external(),
    ])) as [string, string, string, string, string, string, string, string];
    return { client, target, stranger, watcher, node, service, nobody, loadBalancer };
}

const apiServer = `${addresses.apiService}:443`;
const ingress = (on: string, ...rules: Policy["ingress"] & object): Policy => ({
    on,
    ways: ["Ingress"],
    ingress: rules,
});
const egress = (on: string, ...rules: Policy["egress"] & object): Policy => ({ on, ways: ["Egress"], egress: rules });
const block = (cidr: string) => ({ ipBlock: { cidr } });
const one = async (from: string, to: string) => (await connections(from, to))[0];
const matches = (outcome: string) => (outcome === "allowed" ? "matches" : "does not match");

/** Everything of the pod `target` is denied. */
export const cutOff = ({ target, service, loadBalancer }: Addresses) =>
    under([{ on: "target", ways: ["Ingress", "Egress"] }], async () => {
        const [direct, byService] = await connections("client", `${target}:8080`, `${service}:80`);
        const fromNode = await one("host", `${target}:8080`);
        const fromOutside = await fromThisMachine(loadBalancer, 80);
        // Three probes fail before a pod is not ready: with their timeouts, in 4 s.
        await sleep(4_000);
        const ready = "jsonpath={.status.conditions[?(@.type=='Ready')].status}";
        const isReady = (await kubectl(["-n", namespace, "get", "pod", "target", "-o", ready])) === "True";
        return { direct, byService, fromNode, fromOutside, probes: isReady ? "pass" : "fail" };
    });

/** Nothing is allowed to the pod `client`. */
export const silenced = ({ target, node }: Addresses) =>
    under([egress("client")], async () => {
        const to = [`${target}:8080`, apiServer, `${node}:${hostPort}`] as const;
        const [toPod, toApiServer, toNode] = await connections("client", ...to);
        return { toPod, toApiServer, toNode };
    });

/** Blocks of the address of the pod `client`. */
export const podBlocks = ({ client, target, watcher }: Addresses) => {
    const ofClient = block(`${client}/32`);
    return under([ingress("target", { from: [ofClient] }), egress("stranger", { to: [ofClient] })], async () => {
        const [into] = await connections("client", `${target}:8080`);
        const [out, other] = await connections("stranger", `${client}:8080`, `${watcher}:8080`);
        if (other === "allowed" || (await one("watcher", `${target}:8080`)) === "allowed")
            throw new Error("the policies allow more than the block");
        return { ingress: matches(into), egress: matches(out) };
    });
};

/** All addresses for the pod `client`, and that of a Service for the pod `stranger`. */
export const wideBlocks = ({ target, service }: Addresses) =>
    under(
        [egress("client", { to: [block("0.0.0.0/0")] }), egress("stranger", { to: [block(`${service}/32`)] })],
        async () => ({
            everything: matches(await one("client", `${target}:8080`)),
            service: matches(await one("stranger", `${service}:80`)),
        }),
    );

/** The node's address for the pod `client`, and a selector of a pod that has it for the pod `stranger`. */
export const nodePeers = ({ node }: Addresses) => {
    const selector = { namespaceSelector: {}, podSelector: { matchLabels: { app: "host" } } };
    return under(
        [egress("client", { to: [block(`${node}/32`)] }), egress("stranger", { to: [selector] })],
        async () => ({
            block: matches(await one("client", `${node}:${hostPort}`)),
            selector: matches(await one("stranger", `${node}:${hostPort}`)),
        }),
    );
};

/** A policy selects the pod on the node's network. */
export async function hostSelected({ node }: Addresses): Promise<string> {
    const metadata = { name: "host" };
    const spec = { podSelector: {}, policyTypes: ["Ingress"] };
    await apply(hostNamespace, { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata, spec });
    try {
        const seen = await under([], () => one("client", `${node}:${hostPort}`));
        return seen === "allowed" ? "no effect" : seen;
    } finally {
        await kubectl(["-n", hostNamespace, "delete", "networkpolicy", "host"]);
    }
}

/** Only some ports: of the pod `target`, and of all others for the pod `stranger`. @param expected the allowed ones */
export const onlyPorts = ({ client, target }: Addresses, ports: object[], expected: readonly number[]) =>
    under([ingress("target", { ports }), egress("stranger", { ports })], async () => ({
        ingress: await works("client", target, expected),
        egress: await works("stranger", client, expected),
    }));

async function works(from: string, to: string, expected: readonly number[]): Promise<string> {
    const ports = [8080, 8081, 8090];
    const seen = await connections(from, ...ports.map((port) => `${to}:${port}`));
    const isRight = ports.every((port, index) => expected.includes(port) === (seen[index] === "allowed"));
    return isRight ? "works" : ports.map((port, index) => `${port} ${seen[index]}`).join(", ");
}

/** Everything is denied to the pod `far`, on the second node; then all but the addresses of nodes. */
export async function farAway() {
    const far = `${await addressOf("far")}:8080`;
    const denied = await under([ingress("far")], async () => ({
        node: await one("host", far),
        pod: await one("client", far),
    }));
    const ofNodes = [addresses.linkToHost, addresses.linkToSecond].map(block);
    const allowed = await under([ingress("far", { from: ofNodes })], () => one("host", far));
    return { ...denied, block: matches(allowed) };
}

/** Without a policy, all that is denied elsewhere. @returns what does not connect */
export async function unreachable(
    { target, service, node, loadBalancer }: Addresses,
    nodes: number,
): Promise<string[]> {
    const far = nodes === 1 ? [] : [`${await addressOf("far")}:8080`];
    const ports = [8080, 8081, 8090].map((port) => `${target}:${port}`);
    const ofClient = [...ports, `${service}:80`, `${node}:${hostPort}`, apiServer, ...far];
    const ofHost = [ports[0]!, ...far];
    const seen = [...(await connections("client", ...ofClient)), ...(await connections("host", ...ofHost))];
    const fromOutside = await fromThisMachine(loadBalancer, 80);
    return [...ofClient, ...ofHost, loadBalancer].filter((_, index) => [...seen, fromOutside][index] !== "allowed");
}

/** A fresh connection from outside of the cluster. */
const fromThisMachine = (host: string, port: number) =>
    new Promise<string>((resolve) => {
        const socket = connect({ host, port });
        const end = (outcome: string) => {
            socket.destroy();
            resolve(outcome);
        };
        socket.setTimeout(1_500, () => end("time-out")).on("connect", () => end("allowed"));
        socket.on("error", ({ code }: NodeJS.ErrnoException) => end(code === "ECONNREFUSED" ? "refused" : code!));
    });

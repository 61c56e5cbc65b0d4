import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { askProducts } from "../experiments/checks/products";
import { addressRoute as routeTo, type Route } from "../experiments/checks/route";
import { gatewayAddress, productsUrl } from "../shared/gateway";
import { type Cluster, orMissing } from "../shared/kubernetes";
import type { Manifest } from "./manifests";
import { secondsSince } from "./time";

const patienceSeconds = 120;
const askEveryMs = 100;
const askForMs = 2_000;

/**
 * `kubectl apply` of objects, to its end. On the server, as the Pulumi provider does it too: on the client it would keep
 * a copy of each object in an annotation, for which the shop's programs are too large.
 */
export async function kubectlApply(context: string, manifests: readonly Manifest[]): Promise<void> {
    const kubectl = spawn("kubectl", ["--context", context, "apply", "--server-side", "--filename", "-"], {
        stdio: ["pipe", "ignore", "pipe"],
    });
    let problem = "";
    kubectl.stderr.on("data", (text: Buffer) => (problem += text));
    kubectl.stdin.end(JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests }));
    const code = await new Promise<number | null>((resolve, reject) =>
        kubectl.on("error", reject).on("close", resolve),
    );
    if (code !== 0) throw new Error(`kubectl apply failed: ${problem}`);
}

/**
 * The first good answer of `/products` at the gateway's external address; gives the seconds since `begun`. It is asked at
 * a steady rate, whatever became of the questions before: one that was asked too early may hang until it is given up.
 */
export async function untilProductsAnswer(cluster: Cluster, namespace: string, begun: number): Promise<number> {
    let problem: string | undefined = "the gateway has no address";
    let answeredAfter: number | undefined;
    const ask = async () => {
        const route = await addressRoute(cluster, namespace);
        if (!route) return;
        const answer = await askProducts(cluster, route, askForMs);
        if (answer.good) answeredAfter ??= secondsSince(begun);
        else problem = answer.problem;
    };
    while (answeredAfter === undefined) {
        if (secondsSince(begun) > patienceSeconds)
            throw new Error(`/products in ${namespace} did not answer within ${patienceSeconds} s: ${problem}`);
        void ask().catch((error: Error) => (problem = error.message));
        await sleep(askEveryMs);
    }
    return answeredAfter;
}

/** The gateway's external address as a way to ask; undefined while it has none. */
export async function addressRoute(cluster: Cluster, namespace: string): Promise<Route | undefined> {
    const address = await gatewayAddress(cluster, namespace);
    return address && routeTo(address);
}

/** The address of the gateway's `/products`. @throws where it has none */
export async function gatewayUrl(cluster: Cluster, namespace: string): Promise<string> {
    const address = await gatewayAddress(cluster, namespace);
    if (!address) throw new Error("the gateway has no address");
    return productsUrl(address);
}

/** The addresses of the backends' `/products`, by name: the node's, with the ports of their NodePort Services. */
export async function backendUrls({ core }: Cluster, namespace: string): Promise<Record<string, string>> {
    const [nodes, services] = await Promise.all([core.listNode(), core.listNamespacedService({ namespace })]);
    const host = nodes.items[0]!.status!.addresses!.find(({ type }) => type === "InternalIP")!.address;
    const listing = services.items.filter(({ metadata }) =>
        ["fashion-bestseller", "toys-bestseller", "hot-deals"].includes(metadata!.name!),
    );
    return Object.fromEntries(
        listing.map(({ metadata, spec }) => [metadata!.name!, `http://${host}:${spec!.ports![0]!.nodePort}/products`]),
    );
}

/** Deletes namespaces and waits until they are gone. */
export async function removeNamespaces(cluster: Cluster, names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => orMissing(cluster.core.deleteNamespace({ name, gracePeriodSeconds: 0 }))));
    const giveUpAt = Date.now() + patienceSeconds * 1_000;
    for (const name of names) {
        while (await orMissing(cluster.core.readNamespace({ name }))) {
            if (Date.now() > giveUpAt)
                throw new Error(
                    `namespace ${name} is still there after ${patienceSeconds} s; see: kubectl get namespace ${name} --output yaml`,
                );
            await sleep(250);
        }
    }
}

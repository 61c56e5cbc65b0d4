import { setTimeout as sleep } from "node:timers/promises";
import { askProducts } from "../experiments/products";
import { addressRoute, externalAddress } from "../chaos/kinds/checks/service";
import { gatewayOf } from "../components/shop/gateway";
import type { Cluster } from "../chaos/cluster/client";
import type { ManifestObject } from "../components/manifest/read";
import { runCommand } from "../toolchain/run-command";
import { secondsSince, timed, until } from "./time";
import { otherResources, resources } from "../chaos/cluster/resources";

const patienceSeconds = 120;
const askEveryMs = 100;
const askForMs = 2_000;

/**
 * Runs `kubectl apply --server-side`, like the Pulumi provider. Client-side apply copies each object into an
 * annotation, for which the shop's programs are too large.
 */
export async function kubectlApply(context: string, manifests: readonly ManifestObject[]): Promise<void> {
    const args = ["--context", context, "apply", "--server-side", "--filename", "-"];
    await runCommand("kubectl", args, { input: JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests }) });
}

/**
 * Waits for the first good answer of `/products` at the gateway's external address. Requests at a steady rate, without
 * waiting for answers: an early request may hang until its timeout.
 *
 * @returns the seconds since `begun`
 */
export async function untilProductsAnswer(cluster: Cluster, namespace: string, begun: number): Promise<number> {
    let problem: string | undefined = "the gateway has no address";
    let answeredAfter: number | undefined;
    const ask = async () => {
        const { name } = gatewayOf(namespace);
        const found = await cluster.get({ resource: resources.service, name, namespace });
        const address = found && externalAddress(found);
        if (!address) return;
        const answer = await askProducts(cluster, addressRoute(address), askForMs);
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

/**
 * Installs a shop in a namespace, which is then removed.
 *
 * @returns the seconds until `/products` answered, and until `install` ended
 */
export async function timesOfInstall(cluster: Cluster, namespace: string, install: () => Promise<unknown>) {
    const begun = performance.now();
    const [ended, answered] = await Promise.all([timed(install), untilProductsAnswer(cluster, namespace, begun)]);
    await removeNamespaces(cluster, [namespace]);
    return { ended, answered };
}

/** Deletes namespaces and waits until they no longer exist. */
export async function removeNamespaces(cluster: Cluster, names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => cluster.delete({ resource: otherResources.namespace, name })));
    const isGone = async (name: string) => !(await cluster.get({ resource: otherResources.namespace, name }));
    for (const name of names)
        await until(
            `namespace ${name} is deleted; see: kubectl get namespace ${name} --output yaml`,
            patienceSeconds,
            () => isGone(name),
        );
}

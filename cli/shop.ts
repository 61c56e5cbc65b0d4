import { kubectlFor } from "../chaos/values/kubectl";
import { poll } from "../chaos/values/async";
import type { Answer } from "../chaos/kinds/checks/answer";
import { askProducts } from "../experiments/products";
import { chooseRoute } from "../chaos/kinds/checks/route";
import { type Count, countOf } from "../components/cluster/waiting";
import { gatewayOf } from "../components/shop/gateway";
import { isReady } from "../chaos/targets/containers";
import type { Cluster } from "../chaos/cluster/client";
import { resources } from "../chaos/cluster/resources";

export async function podsOf(cluster: Cluster, namespace: string) {
    const items = await cluster.all(resources.pod, { namespace });
    return items
        .filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
        .map((pod) => ({ name: pod.metadata!.name!, status: pod.status?.phase ?? "Unknown", ready: isReady(pod) }));
}

/** Requests `/products` until the listing is complete, for at most `patienceMs`. @returns the last answer */
export async function wholeProducts(cluster: Cluster, namespace: string, patienceMs: number): Promise<Answer> {
    const route = await chooseRoute(cluster, gatewayOf(namespace));
    const ask = () => askProducts(cluster, route, 5_000);
    return poll(ask, ({ good }) => good, patienceMs);
}

/** Scales a Deployment and waits until exactly that many pods are ready. */
export async function scale(cluster: Cluster, namespace: string, name: string, replicas: number): Promise<void> {
    const body = { spec: { replicas } };
    await cluster.patch({ resource: resources.deployment, namespace, name, part: "scale" }, body);
    const look = async () => countOf(await cluster.read({ resource: resources.deployment, name, namespace }));
    const isScaled = ({ wanted, complete }: Count) => complete && wanted === replicas;
    const last = await poll(look, isScaled, 120_000);
    if (isScaled(last)) return;
    throw new Error(
        `${name} has ${last.ready} of ${replicas} pods ready after two minutes; ` +
            `see \`${kubectlFor(cluster, namespace)} get pods\``,
    );
}

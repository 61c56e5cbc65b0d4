import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { packedName, servicesFolder } from "../components/base/program";
import { addressOf } from "../chaos/checks/service";
import { gatewayService, productsUrl } from "../components/shop/gateway";
import { ignoreNotFound } from "../chaos/cluster/client";
import { kubectlApply, openBackends } from "./cluster";
import type { ManifestObject } from "../components/manifest/read";
import { namespaces, type Session } from "./session";
import { until } from "./time";

const name = "bare-merge";
const namespace = namespaces.shop;
const patienceSeconds = 60;

/**
 * Starts `bare-merge.js` in a pod like the gateway's: the same image, Node options, environment, limits and Service
 * type. Only the program differs, and it has no probes. While it is there, everybody may connect to the backends.
 *
 * @returns the URL of its listing
 */
export async function startBareServer(session: Session) {
    const { cluster, context } = session;
    const gateway = await cluster.apps.readNamespacedDeployment({ name: gatewayService.name, namespace });
    await kubectlApply(context, manifestsLike(JSON.parse(JSON.stringify(gateway.spec!.template.spec)) as PodSpec));
    const closeBackends = await openBackends(cluster, namespace);
    const remove = async () => {
        await closeBackends();
        await ignoreNotFound(cluster.apps.deleteNamespacedDeployment({ name, namespace }));
        await ignoreNotFound(cluster.core.deleteNamespacedService({ name, namespace }));
        await ignoreNotFound(cluster.core.deleteNamespacedConfigMap({ name, namespace }));
    };
    try {
        const url = await until("the bare server answers", patienceSeconds, 200, () => answeringUrl(session));
        return { url, remove };
    } catch (error) {
        await remove();
        throw error;
    }
}

interface PodSpec {
    containers: { name: string; readinessProbe?: unknown; livenessProbe?: unknown }[];
    volumes: { configMap?: { name: string } }[];
}

function manifestsLike(pod: PodSpec): ManifestObject[] {
    const { readinessProbe: _, livenessProbe: __, ...container } = pod.containers[0]!;
    const volumes = pod.volumes.map((volume) =>
        volume.configMap ? { ...volume, configMap: { ...volume.configMap, name } } : volume,
    );
    // Not `app`: that label selects the shop's pods.
    const labels = { "chaos-shop/bench": name };
    const metadata = { name, namespace };
    const data = { "start.js": readFileSync(join(servicesFolder, "start.js"), "utf8") };
    const binaryData = {
        [packedName]: gzipSync(readFileSync(join(__dirname, "bare-merge.js"))).toString("base64"),
    };
    return [
        { apiVersion: "v1", kind: "ConfigMap", metadata, data, binaryData },
        {
            apiVersion: "apps/v1",
            kind: "Deployment",
            metadata,
            spec: {
                selector: { matchLabels: labels },
                template: { metadata: { labels }, spec: { ...pod, volumes, containers: [container] } },
            },
        },
        {
            apiVersion: "v1",
            kind: "Service",
            metadata,
            spec: { type: "LoadBalancer", selector: labels, ports: [{ port: 80, targetPort: "http" }] },
        },
    ];
}

async function answeringUrl({ cluster }: Session): Promise<string | undefined> {
    const address = await addressOf(cluster, { name, namespace });
    if (!address) return undefined;
    const url = productsUrl(address);
    const answer = await fetch(url).catch(() => undefined);
    return answer?.ok ? url : undefined;
}

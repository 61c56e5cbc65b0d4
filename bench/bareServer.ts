import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync } from "node:zlib";
import { packedName } from "../components/program/program";
import { gatewayService, externalAddress, productsUrl } from "../shared/gateway";
import { orMissing } from "../shared/kubernetes";
import { kubectlApply } from "./cluster";
import type { Manifest } from "./manifests";
import { namespaces, type Session } from "./session";

const name = "bare-merge";
const namespace = namespaces.shop;
const patienceSeconds = 60;

/** A server of `bareMerge.js` beside the gateway. */
export interface BareServer {
    /** The address of its listing. */
    url: string;
    remove(): Promise<void>;
}

/**
 * Puts a bare merging server beside the gateway, in a pod like the gateway's: image, options of node, environment,
 * limits, the way to it. Only its program differs, and that nobody probes it.
 */
export async function startBareServer(session: Session): Promise<BareServer> {
    const { cluster, context } = session;
    const gateway = await cluster.apps.readNamespacedDeployment({ name: gatewayService, namespace });
    await kubectlApply(context, manifestsLike(JSON.parse(JSON.stringify(gateway.spec!.template.spec)) as PodSpec));
    const remove = async () => {
        await orMissing(cluster.apps.deleteNamespacedDeployment({ name, namespace }));
        await orMissing(cluster.core.deleteNamespacedService({ name, namespace }));
        await orMissing(cluster.core.deleteNamespacedConfigMap({ name, namespace }));
    };
    try {
        return { url: await answeringUrl(session), remove };
    } catch (error) {
        await remove();
        throw error;
    }
}

interface PodSpec {
    containers: { name: string; readinessProbe?: unknown; livenessProbe?: unknown }[];
    volumes: { configMap?: { name: string } }[];
}

function manifestsLike(pod: PodSpec): Manifest[] {
    const { readinessProbe: _, livenessProbe: __, ...container } = pod.containers[0]!;
    const volumes = pod.volumes.map((volume) =>
        volume.configMap ? { ...volume, configMap: { ...volume.configMap, name } } : volume,
    );
    // Not `app`, the label of the shop's own pods.
    const labels = { "chaos-shop/bench": name };
    const metadata = { name, namespace };
    const binaryData = {
        [packedName]: brotliCompressSync(readFileSync(join(__dirname, "bareMerge.js"))).toString("base64"),
    };
    return [
        { apiVersion: "v1", kind: "ConfigMap", metadata, binaryData },
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

async function answeringUrl({ cluster }: Session): Promise<string> {
    const giveUpAt = Date.now() + patienceSeconds * 1_000;
    while (Date.now() < giveUpAt) {
        const address = externalAddress(await cluster.core.readNamespacedService({ name, namespace }));
        const url = address && productsUrl(address);
        if (
            url &&
            (await fetch(url).then(
                ({ ok }) => ok,
                () => false,
            ))
        )
            return url;
        await sleep(200);
    }
    throw new Error(`the bare server did not answer within ${patienceSeconds} s`);
}

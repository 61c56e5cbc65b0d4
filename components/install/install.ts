import { kubectl } from "../../chaos/values/kubectl";
import type { StackCluster } from "../cluster/cluster";
import { readerOf } from "../cluster/reading";
import { checkStorageClass } from "../cluster/storage-class";
import type { StackConfiguration } from "../configuration/read";
import { annotations } from "../cluster/marks";
import { installOf } from "../base/own-namespace";
import { kindsOf } from "../manifest/kinds";
import { Shop } from "../shop/shop";
import { requireChart } from "./repository";
import { readShopManifest } from "./shop-manifest";
import { ExternalShop, isAttacked } from "./external-shop";
import { pulumiCommand, setCommand } from "../pulumi-command";
import { otherResources } from "../../chaos/cluster/resources";

/**
 * Installs the shop as the stack's setting `install` says.
 *
 * @throws Error if the manifest or the chart cannot be installed, or `install` changes during an attack or in a
 *   namespace that is kept
 */
export async function installShop(
    name: string,
    configuration: StackConfiguration,
    { api: cluster, context, identity, opts }: Pick<StackCluster, "api" | "context" | "identity" | "opts">,
): Promise<Shop | ExternalShop> {
    const { install, namespace, variant, ingress, storage } = configuration;
    const found = await cluster.get({ resource: otherResources.namespace, name: namespace });
    const before = installOf(found?.metadata?.annotations);
    // Changing `install` recreates the namespace. One that is kept stays, and new objects would meet those that are
    // being deleted under the same names, in a namespace that may refuse their pods.
    if (before !== undefined && before !== install.kind && found!.metadata!.annotations![annotations.kept])
        throw new Error(
            `install cannot change from ${before} to ${install.kind} in namespace ${namespace}, which is kept for ` +
                "its claims. Nothing was touched.\n" +
                `  To keep them, with their data: ${setCommand("namespace", `${namespace}-${install.kind}`)}\n` +
                `  To delete them: ${[
                    setCommand("install", before),
                    setCommand("storage.keep", "false"),
                    pulumiCommand(["up"]),
                    `${kubectl({ context: context.name })} annotate namespace ${namespace} ${annotations.kept}-`,
                    setCommand("install", install.kind),
                ].join(" && ")}`,
        );
    // It would delete a running attack's objects.
    if (before !== undefined && before !== install.kind && (await isAttacked(cluster, namespace)))
        throw new Error(
            `install cannot change from ${before} to ${install.kind} while an experiment runs in namespace ` +
                `${namespace}. Nothing was touched. Undo the experiment first: ` +
                [setCommand("install", before), setCommand("experiment.enabled", "false"), pulumiCommand(["up"])].join(
                    " && ",
                ),
        );
    if (install.kind === "program") {
        if (storage.database || storage.broker) await checkStorageClass(cluster, storage.class);
        return new Shop(name, { ...configuration, identity }, opts);
    }
    if (install.kind === "chart" && before !== "chart") await requireChart(install.chart);
    const { kind, chart, manifest, timeoutMs } = install;
    const source =
        kind === "chart"
            ? { install: kind, chart, ingress }
            : {
                  install: kind,
                  manifest: await readShopManifest(manifest!, namespace, kindsOf(readerOf(cluster.kubeconfig))),
              };
    return new ExternalShop(name, { namespace, identity, variant, source, cluster, timeoutMs }, opts);
}

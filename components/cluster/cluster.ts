import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { loadKubeconfig } from "../../chaos/cluster/kubeconfig";
import { type Cluster, clusterOf, connect, isTimeout, messageOf, statusOf } from "../../chaos/cluster/client";
import { problemOf } from "../../chaos/cluster/problem";
import { podContext } from "../../chaos/values/kubectl";
import { placement } from "../base/placement";
import type { StackConfiguration } from "../configuration/read";
import { type Key, settings } from "../configuration/settings";
import type { AllowedContext } from "../../chaos/cluster/guard";
import { allowedContext } from "./allowed-context";
import { requireOwnLeft } from "./destroying/moving";
import { type NamespaceRequest, refusedNamespace } from "./namespace-owner";
import { knownIdentity, requireSameCluster, stackIdentity } from "./state-records";
import { setCommand } from "../pulumi-command";
import { otherResources } from "../../chaos/cluster/resources";

export interface StackCluster {
    context: AllowedContext;
    /** Distinguishes the stack from others of its name. See `stackIdentity`. */
    identity: pulumi.Output<string>;
    /** Of the cluster's namespace kube-system, which lives as long as the cluster. */
    uid: string;
    provider: k8s.Provider;
    /** For the shop and the agent: the provider, and the placement of their pods. */
    opts: { provider: k8s.Provider; transformations: pulumi.ResourceTransformation[] };
    /** For the program's own requests. */
    api: Cluster;
}

const reachTimeoutMs = 10_000;

/**
 * Opens the cluster that the stack may touch. Checks before the first resource that the cluster answers, that the
 * stack's namespaces do not exist yet or are its own, that the stack's state was made in this cluster, and that the
 * stack leaves nothing of somebody else behind the names that it had in another one.
 *
 * @param known the stack's identity, if it is known already
 * @throws GuardError, KubeconfigError, or an Error that names the address that does not answer, the namespaces in use,
 *   the other cluster, or what is somebody else's there
 */
export async function openCluster(
    configuration: StackConfiguration,
    known?: pulumi.Output<string>,
): Promise<StackCluster> {
    const { kubeContext, namespace, agent } = configuration;
    const context = allowedContext(loadKubeconfig(), kubeContext);
    const api = connect({ context: context.name });
    const wanted = { namespace, ...(agent && { "agent.namespace": agent.namespace }) };
    const { uid, found } = await lookAround(api, context, Object.values(wanted));
    const stack = pulumi.getStack();
    const made = known ?? stackIdentity();
    const identity = await knownIdentity(made);
    const refused = (Object.keys(wanted) as NamespaceRequest["key"][]).flatMap((key, index) => {
        const [existing, request] = [found[index], { stack, identity, key, context: context.name }];
        return (existing && refusedNamespace(existing, request)) ?? [];
    });
    if (refused.length > 0) throw new Error(refused.join("\n"));
    await requireSameCluster({ uid, context: context.name });
    await requireOwnLeft({ stack, identity, uid, context: context.name });
    const provider = clusterProvider(context.name, uid);
    const opts = { provider, transformations: placement(configuration.placement) };
    return { context, identity: made, uid, api, provider, opts };
}

/**
 * The provider of the stack's resources.
 *
 * @param uid identifies the cluster: no change of the kubeconfig replaces a resource, only another cluster does. Then
 *   the old resources are deleted first. If a recreated cluster has the same context, deleting them last would delete
 *   the new ones, which have their names.
 */
function clusterProvider(context: string, uid: string): k8s.Provider {
    // Without it, the SDK would pass the text of KUBECONFIG. Given a path, the provider leaves a copy of the file, with
    // its credentials, in the temporary folder each time; it cannot read several. Given nothing, it reads KUBECONFIG
    // itself, as kubectl does.
    const kubeconfig = "";
    const opts: pulumi.CustomResourceOptions = { deleteBeforeReplace: true };
    const named = context === podContext ? undefined : context;
    return new k8s.Provider("cluster", { context: named, kubeconfig, clusterIdentifier: uid }, opts);
}

/**
 * Looks for the stack's namespaces.
 *
 * @returns the cluster's uid, which is that of its namespace kube-system, and each namespace that exists
 * @throws Error if the cluster does not answer
 */
async function lookAround(
    cluster: Cluster,
    { name: context, server, local }: AllowedContext,
    names: readonly string[],
) {
    const near = clusterOf(cluster.kubeconfig, reachTimeoutMs);
    try {
        const [system, ...found] = await Promise.all([
            near.read({ resource: otherResources.namespace, name: "kube-system" }),
            ...names.map((name) => near.get({ resource: otherResources.namespace, name })),
        ]);
        return { uid: system.metadata!.uid!, found };
    } catch (error) {
        const start = local === "sandbox" ? "; start it with `npm run sandbox -- up`" : local ? `; start ${local}` : "";
        const unreached = isTimeout(error)
            ? `no answer within ${reachTimeoutMs / 1_000} s`
            : messageOf(error).split("\n")[0];
        const reason = statusOf(error) === undefined ? `${unreached}${start}` : problemOf(error);
        throw new Error(
            `the cluster of context "${context}" at ${server} cannot be used: ${reason}, ` +
                `or choose another with \`${setCommand("kube.context", "NAME")}\``,
        );
    }
}

/**
 * What an update must know to end attacks: three settings, unvalidated, the cluster and the stack's identity. Nothing
 * else is read, since a mistake there must not prolong an attack. Undefined without a cluster that the stack may touch
 * and that answers: `openCluster` says why.
 */
export async function firstLook() {
    const setting = (key: Key) => pulumi.runtime.getConfig(`${pulumi.getProject()}:${key}`) ?? settings[key].default;
    const namespace = setting("namespace")!;
    const reached = await reach(setting("kube.context"), namespace).catch(() => undefined);
    if (reached === undefined) return undefined;
    const enabled = setting("experiment.enabled") === "true";
    return { enabled, namespace, identity: stackIdentity(), cluster: reached };
}

async function reach(kubeContext: string | undefined, namespace: string) {
    const cluster = connect({ context: allowedContext(loadKubeconfig(), kubeContext).name }, reachTimeoutMs);
    await cluster.get({ resource: otherResources.namespace, name: namespace });
    return cluster;
}

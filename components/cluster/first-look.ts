import * as pulumi from "@pulumi/pulumi";
import { connect } from "../../chaos/cluster/client";
import { loadKubeconfig } from "../../chaos/cluster/kubeconfig";
import { type Key, settings } from "../configuration/settings";
import { allowedContext } from "./guard";
import { identityLeftBehind, stackIdentity } from "./state-records";

/** Time limit of each call, in milliseconds: `openCluster` says what is wrong with a cluster that does not answer. */
const callTimeoutMs = 10_000;

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
    const identity = await stackIdentity(reached.inherited);
    return { enabled: setting("experiment.enabled") === "true", namespace, identity, cluster: reached.cluster };
}

async function reach(kubeContext: string | undefined, namespace: string) {
    const cluster = connect({ context: allowedContext(loadKubeconfig(), kubeContext).name }, callTimeoutMs);
    return { cluster, inherited: await identityLeftBehind(cluster, namespace) };
}

/** Reads objects of any kind by their paths. */
import { clusterOf } from "../../chaos/cluster/client";
import type { Kubeconfig } from "../../chaos/cluster/kubeconfig";
import type { KubeObject } from "../../chaos/values/kubernetes-types";
import { objectOf } from "../../chaos/cluster/verbs";

export interface ReadObject extends KubeObject {
    /** When, by the API server's clock, in milliseconds since the epoch: this machine's may differ. */
    readAt?: number;
}

/**
 * What the API server has at a path, such as `/api/v1/namespaces/demo`. Undefined if there is nothing (404).
 *
 * @throws ApiError if it answers with another status, or an error of the connection
 */
export type Reader = (path: string) => Promise<ReadObject | undefined>;

const timeoutMs = 10_000;

export function readerOf(kubeconfig: Kubeconfig): Reader {
    const cluster = clusterOf(kubeconfig, timeoutMs);
    return async (path) => {
        const answer = await cluster.ask(path);
        return answer.status === 404 ? undefined : { ...objectOf(answer), readAt: answer.sentAt };
    };
}

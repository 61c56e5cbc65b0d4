/** Reads objects of any kind by their paths. */
import { ApiError, clusterOf } from "../../chaos/cluster/client";
import { type Kubeconfig, loadKubeconfig, requireSupported } from "../../chaos/cluster/kubeconfig";
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

/** The cluster could not be asked at all, so neither can the provider. */
export class UnreachableError extends Error {
    override readonly name = "UnreachableError";
}

/** Reads objects of the cluster that a context leads to now. Rejects with an `UnreachableError` if nobody answers. */
export function readerFor(context: string): Reader {
    let opened: Reader | undefined;
    return async (path) => {
        try {
            opened ??= readerOf(kubeconfigFor(context));
            return await opened(path);
        } catch (error) {
            throw problemOf(error);
        }
    };
}

/** @throws Error if there is no such context, or it cannot be used */
function kubeconfigFor(context: string): Kubeconfig {
    const kubeconfig = loadKubeconfig();
    if (kubeconfig.getContextObject(context) === undefined)
        throw new Error(`the kubeconfig has no context "${context}"`);
    requireSupported(kubeconfig, context);
    kubeconfig.setCurrentContext(context);
    return kubeconfig;
}

/** What went wrong: an `UnreachableError` if nobody answers, or nobody who knows the user. */
function problemOf(error: unknown): Error {
    if (!(error instanceof ApiError)) return new UnreachableError((error as Error).message);
    const [, message = error.body.slice(0, 300)] = /"message":"((?:[^"\\]|\\.)*)"/.exec(error.body) ?? [];
    const reason = `the API server answered with status ${error.code}: ${message}`;
    return error.code === 401 ? new UnreachableError(reason) : new Error(reason);
}

import { ApiError } from "../../../chaos/cluster/client";
import { type Kubeconfig, loadKubeconfig, requireSupported } from "../../../chaos/cluster/kubeconfig";
import { type Reader, readerOf } from "../reading";
import { UnreachableError } from "./refusal";

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

/**
 * Reads objects of any kind by their paths. The program that guards a destroy has this file: with the clients of the
 * library it would be two and a half times as large.
 */
import {
    ApiException,
    HttpMethod,
    IsomorphicFetchHttpLibrary,
    type KubeConfig,
    type KubernetesObject,
    RequestContext,
} from "@kubernetes/client-node";

export interface ReadObject extends KubernetesObject {
    /** When, by the API server's clock, in milliseconds since the epoch: this machine's may differ. NaN if unknown. */
    readAt?: number;
}

/**
 * What the API server has at a path, such as `/api/v1/namespaces/demo`. Undefined if there is nothing (404).
 *
 * @throws ApiException if it answers with another status, or an error of the connection
 */
export type Reader = (path: string) => Promise<ReadObject | undefined>;

const timeoutMs = 10_000;

export function readerOf(kubeconfig: KubeConfig): Reader {
    const server = kubeconfig.getCurrentCluster()!.server.replace(/\/$/, "");
    const library = new IsomorphicFetchHttpLibrary();
    return async (path) => {
        const request = new RequestContext(`${server}${path}`, HttpMethod.GET);
        request.setSignal(AbortSignal.timeout(timeoutMs));
        await kubeconfig.applySecurityAuthentication(request);
        const { httpStatusCode: status, body, headers } = await library.send(request).toPromise();
        if (status === 404) return undefined;
        const text = await body.text();
        if (status === 200)
            return { ...(JSON.parse(text) as KubernetesObject), readAt: Date.parse(headers.date ?? "") };
        throw new ApiException(status, "the API server rejected the request", text, headers);
    };
}

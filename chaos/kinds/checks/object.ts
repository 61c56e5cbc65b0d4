import { kubectlFor } from "../../values/kubectl";
import { ApiError, type Cluster } from "../../cluster/client";
import type { V1APIResource } from "../../values/kubernetes-types";
import { parseJson } from "../../values/json";
import { askApiServer } from "./request";
import { MissingError } from "./references";

/** Any object of the Kubernetes API. */
export interface CheckedObject {
    /** Such as `apps/v1`. */
    apiVersion: string;
    /** Such as `Deployment`. */
    kind: string;
    /** Its name. */
    name: string;
    /** Ignored for kinds without a namespace. @default the experiment's */
    namespace?: string;
}

/** The resources of each API version, by kubeconfig. They are kept, so that a probe is one call. */
const discovered = new WeakMap<object, Map<string, readonly V1APIResource[]>>();

/** @throws MissingError if the cluster does not know the object's kind */
export async function readObject(
    cluster: Cluster,
    { apiVersion, kind, name, namespace }: Required<CheckedObject>,
    signal: AbortSignal,
): Promise<unknown> {
    const { name: plural, namespaced } = await resourceOf(cluster, apiVersion, kind, signal);
    const place = namespaced ? `namespaces/${encodeURIComponent(namespace)}/` : "";
    return get(cluster, `${pathOf(apiVersion)}/${place}${plural}/${encodeURIComponent(name)}`, signal);
}

async function resourceOf(
    cluster: Cluster,
    apiVersion: string,
    kind: string,
    signal: AbortSignal,
): Promise<V1APIResource> {
    const known = discovered.get(cluster.kubeconfig) ?? new Map<string, readonly V1APIResource[]>();
    discovered.set(cluster.kubeconfig, known);
    const discover = async () => {
        const list = (await get(cluster, pathOf(apiVersion), signal)) as { resources?: V1APIResource[] } | undefined;
        return list?.resources ?? [];
    };
    const resources = known.get(apiVersion) ?? (await discover());
    // Subresources, such as deployments/scale, have kinds, too.
    const found = resources.find((one) => one.kind === kind && !one.name.includes("/"));
    if (found === undefined)
        throw new MissingError(
            `the cluster has no kind ${kind} of apiVersion ${apiVersion}. Correct \`of\`, or install what brings it; ` +
                `see: ${kubectlFor(cluster)} api-resources`,
        );
    known.set(apiVersion, resources);
    return found;
}

const pathOf = (apiVersion: string) => `/${apiVersion.includes("/") ? "apis" : "api"}/${apiVersion}`;

/** @returns undefined if there is nothing at the path */
async function get(cluster: Cluster, path: string, signal: AbortSignal): Promise<unknown> {
    const { status, body } = await askApiServer(cluster, path, { headers: { accept: "application/json" }, signal });
    if (status === 200) return parseJson(body);
    if (status === 404) return undefined;
    throw new ApiError(status, body);
}

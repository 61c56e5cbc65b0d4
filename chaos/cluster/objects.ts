import type { KubernetesListObject } from "@kubernetes/client-node";
import { type Cluster, ignoreNotFound, mergePatch, statusOf } from "./client";
import { fieldManager } from "./labels";
import type { KnownResource, KubeObject, ObjectApi, Resource } from "./resources";

type ApiGroup = KnownResource["apiGroup"];

const clients = {
    "": "core",
    apps: "apps",
    batch: "batch",
    "networking.k8s.io": "networking",
    "rbac.authorization.k8s.io": "rbac",
} as const satisfies Record<ApiGroup, keyof Cluster>;

type Calls = Record<string, (request: object, options?: object) => Promise<unknown>>;

/** The calls of a machine's client, which has a method for each verb and kind. */
export function objectApi(cluster: Cluster): ObjectApi {
    const call = (verb: string, { apiGroup, kind }: Resource, request: object, options?: object) =>
        (cluster[clients[apiGroup as ApiGroup]] as unknown as Calls)[`${verb}Namespaced${kind}`]!(request, options);
    const unlessGone = async (answer: Promise<unknown>) => {
        const found = await ignoreNotFound(answer);
        return found === undefined ? undefined : asJson(found);
    };
    return {
        get: ({ resource, namespace, name }) => unlessGone(call("read", resource, { name, namespace })),
        async *list(resource, namespace, labelSelector) {
            const listed = await call("list", resource, { namespace, labelSelector });
            yield* (listed as KubernetesListObject<object>).items.map(asJson);
        },
        patch: ({ resource, namespace, name }, body) =>
            unlessGone(call("patch", resource, { name, namespace, body, fieldManager }, mergePatch())),
        create: (resource, namespace, body) => call("create", resource, { namespace, body }),
        async delete({ resource, namespace, name }, uid) {
            const request = {
                name,
                namespace,
                propagationPolicy: "Background",
                ...(uid && { body: { preconditions: { uid } } }),
            };
            return (await unlessGone(call("delete", resource, request))) !== undefined;
        },
    };
}

/** What a `get` gives. An object that the account may not read counts as there, and is empty. */
export const unlessUnreadable = (found: Promise<KubeObject | undefined>): Promise<KubeObject | undefined> =>
    found.catch((error: unknown) => {
        if (statusOf(error) === 403) return {};
        throw error;
    });

/** An object as the API server has it. The client's are instances of classes, which equal no object that was noted. */
const asJson = (object: unknown) => JSON.parse(JSON.stringify(object)) as KubeObject;

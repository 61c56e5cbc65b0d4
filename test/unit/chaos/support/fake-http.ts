import { ApiException } from "@kubernetes/client-node";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { ApiCall } from "../../../../chaos/cluster/in-cluster-api";
import { eventType } from "../../../../chaos/cluster/events";
import { resources } from "../../../../chaos/cluster/resources";
import type { FakeCluster } from "./fake-cluster";

type Calls = Record<string, Record<string, (request: object) => Promise<any>>>;
const groups: Record<string, string> = { "": "core", "networking.k8s.io": "networking" };

/** How the deadline Job calls a fake cluster: by HTTP, and lists page by page. */
export const httpOf =
    ({ api }: FakeCluster) =>
    async (path: string, { method = "GET", body }: Pick<ApiCall, "method" | "body"> = {}): Promise<IncomingMessage> => {
        const { pathname, searchParams } = new URL(path, "https://api");
        const [, namespace, plural, name] = /\/namespaces\/([^/]+)\/([^/]+)(?:\/([^/]+))?$/.exec(pathname)!;
        const { kind, apiGroup } = [...Object.values(resources), eventType].find(
            ({ resource }) => resource === plural,
        )!;
        const reading = name === undefined ? "list" : "read";
        const verb = { GET: reading, PATCH: "patch", DELETE: "delete", POST: "create" }[method];
        const calls = (api as unknown as Calls)[groups[apiGroup] ?? apiGroup]!;
        const labelSelector = searchParams.get("labelSelector") ?? undefined;
        try {
            const answer = await calls[`${verb}Namespaced${kind}`]!({ namespace, name, labelSelector, body });
            if (verb === "list") page(answer, searchParams);
            return answering(200, answer);
        } catch (error) {
            if (!(error instanceof ApiException)) throw error;
            return answering(error.code, error.body);
        }
    };

const answering = (statusCode: number, body: unknown) =>
    Object.assign(Readable.from([Buffer.from(JSON.stringify(body))]), { statusCode, headers: {} }) as IncomingMessage;

/** Leaves one page of a list. */
function page(list: { metadata: { continue?: string }; items: object[] }, query: URLSearchParams): void {
    const from = Number(query.get("continue") ?? 0);
    const to = from + Number(query.get("limit"));
    if (to < list.items.length) list.metadata.continue = String(to);
    list.items = list.items.slice(from, to);
}

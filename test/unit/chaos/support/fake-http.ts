import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { ApiCall } from "../../../../chaos/cluster/verbs";
import type { FakeCluster } from "./fake-cluster";

/** How the deadline Job calls a fake cluster: by HTTP, and lists page by page. */
export const httpOf =
    (cluster: FakeCluster) =>
    async (path: string, call?: ApiCall): Promise<IncomingMessage> => {
        const { status, body } = await cluster.answer(path, call);
        const query = new URL(path, "https://api").searchParams;
        return answering(status, status === 200 && query.has("limit") ? page(body, query) : body);
    };

const answering = (statusCode: number, body: string) =>
    Object.assign(Readable.from([Buffer.from(body)]), { statusCode, headers: {} }) as IncomingMessage;

/** One page of a list. */
function page(body: string, query: URLSearchParams): string {
    const { items } = JSON.parse(body) as { items: object[] };
    const from = Number(query.get("continue") ?? 0);
    const to = from + Number(query.get("limit"));
    const metadata = to < items.length ? { continue: String(to) } : {};
    return JSON.stringify({ metadata, items: items.slice(from, to) });
}

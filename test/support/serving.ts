import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll } from "vitest";

/** A server on this machine for the tests of a file or of a group. It has its address once these run. */
export function serving(listener: RequestListener): { readonly url: string } {
    const server = createServer(listener);
    beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
    afterAll(() => {
        server.closeAllConnections();
        server.close();
    });
    return {
        get url() {
            return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        },
    };
}

/** Objects by their paths, or the status that refuses them. */
export type Served = Record<string, any>;

const notFound = { kind: "Status", code: 404, reason: "NotFound", message: "not found" };

/** An API server for the tests of a file or of a group, which has these objects at that time. */
export const servingObjects = (objects: Served) =>
    serving(({ url }, response) => {
        const found = objects[new URL(url!, "http://api").pathname] ?? notFound;
        const status = found.kind === "Status" ? found.code : 200;
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(found));
    });

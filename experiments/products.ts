import type { Answer } from "../chaos/kinds/checks/answer";
import { askOverHttp, type HttpCheck } from "../chaos/kinds/checks/http";
import type { Route } from "../chaos/kinds/checks/service";
import type { Cluster } from "../chaos/cluster/client";

/** The default check: the whole listing, with products in each of its three lists. */
export const productsCheck: HttpCheck = {
    kind: "http",
    path: "/products",
    status: 200,
    json: ["fashionResponse", "toysResponse", "hotDealsResponse"].map((list) => ({
        path: `${list}.products`,
        atLeast: 1,
    })),
};

export function askProducts(cluster: Cluster, route: Route, timeoutMs: number): Promise<Answer> {
    return askOverHttp(productsCheck, cluster, route, timeoutMs);
}

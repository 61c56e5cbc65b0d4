import type { Cluster } from "../../shared/kubernetes";
import type { Answer } from "./answer";
import { askOverHttp, type HttpCheck } from "./http";
import type { Route } from "./route";

/** The check of an experiment that names none: the whole listing, with products in each of its three lists. */
export const productsCheck: HttpCheck = {
    kind: "http",
    path: "/products",
    status: 200,
    json: ["fashionResponse", "toysResponse", "hotDealsResponse"].map((list) => ({
        path: `${list}.products`,
        atLeast: 1,
    })),
};

/** Asks `/products` once. */
export function askProducts(cluster: Cluster, route: Route, timeoutMs: number): Promise<Answer> {
    return askOverHttp(productsCheck, cluster, route, timeoutMs);
}

import type { HttpCheck } from "../chaos/kinds/checks/http";
import type { Action } from "../chaos/index";

export const orderAccepted: HttpCheck = {
    kind: "http",
    method: "POST",
    path: "/orders",
    // Another order each time: the same key would be the same order.
    headers: { "Idempotency-Key": "{uuid}" },
    body: { items: [{ productId: "1cb000fc-4a11-4fd3-a30d-65e5eccf7d56", quantity: 1 }] },
    status: 202,
    json: [{ path: "state", equals: "ACCEPTED" }],
};

/** Places an order and wants it fulfilled within 20 s: the answer comes as soon as it is. */
export const orderFulfilled: HttpCheck = {
    ...orderAccepted,
    name: "orders are fulfilled",
    headers: { ...orderAccepted.headers, Prefer: "wait=20" },
    json: [{ path: "state", equals: "FULFILLED" }],
    timeoutMs: 25_000,
};

export const goneForTenSeconds = (deployment: string): Action[] => [
    { kind: "wait", durationMs: 2_000 },
    { kind: "scale", deployment, replicas: 0 },
    { kind: "wait", durationMs: 10_000 },
    { kind: "scale", deployment, replicas: 1 },
];

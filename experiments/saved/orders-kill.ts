import type { SavedExperiment } from "../saved";

const experiment: SavedExperiment = {
    hypothesis: "The shop still accepts orders while pods of orders are killed, one every ten seconds.",
    attacks: [{ kind: "kill", target: "k8s.deployment=orders", intervalMs: 10_000 }],
    checks: [
        {
            kind: "http",
            method: "POST",
            path: "/orders",
            // Another order each time: the same key would be the same order.
            headers: { "Idempotency-Key": "{uuid}" },
            body: { items: [{ productId: "1cb000fc-4a11-4fd3-a30d-65e5eccf7d56", quantity: 1 }] },
            status: 202,
            json: [{ path: "state", equals: "ACCEPTED" }],
        },
    ],
    variant: "seven",
};
export default experiment;

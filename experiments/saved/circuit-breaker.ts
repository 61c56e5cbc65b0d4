import { productsCheck } from "../products";
import type { SavedExperiment } from "../saved";

const withCircuit = { kind: "http", path: "/products/circuitbreaker", status: 200 } as const;

export default {
    hypothesis: "The circuit to hot-deals opens while it accepts no connections, and the other lists come at once.",
    // It stays ready, since it reaches the database: its Service does not take it away.
    attacks: [{ kind: "blackhole", target: "k8s.deployment=hot-deals", direction: "ingress" }],
    checks: [
        productsCheck,
        {
            ...withCircuit,
            name: "most listings come at once",
            json: [
                { path: "statusFashion", equals: "REMOTE_SERVICE" },
                { path: "statusToys", equals: "REMOTE_SERVICE" },
            ],
            maxLatencyMs: 500,
            // Every few seconds, one request tries hot-deals, and others wait for its result.
            successRate: 0.5,
        },
        // Fails with CIRCUIT_OPEN. The end of the run waits until it is good: until the circuit is closed.
        { ...withCircuit, name: "the circuit is closed", json: [{ path: "statusHotDeals", equals: "REMOTE_SERVICE" }] },
    ],
    story: {
        lesson: "gone",
        failing: ["/products", "the circuit is closed"],
        remedy: { what: "A circuit breaker: `/products/circuitbreaker` stops waiting for hot-deals." },
    },
} satisfies SavedExperiment;

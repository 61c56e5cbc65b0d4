import { productsCheck } from "../products";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "The shop still lists its products while new connections to the database take two seconds longer.",
    // Pools keep their connections, but each readiness probe opens a new one: all departments become unready.
    attacks: [{ kind: "fault", service: "product-db", radius: "all", delay: "2s" }],
    checks: [productsCheck, { kind: "http", path: "/products/parallel", status: 200, maxLatencyMs: 3_000 }],
    story: {
        lesson: "slow",
        failing: ["/products"],
        remedy: { what: "A fallback: `/products/parallel` answers with the lists that it has." },
    },
} satisfies SavedExperiment;

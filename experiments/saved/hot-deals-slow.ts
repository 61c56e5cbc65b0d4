import type { SavedExperiment } from "../saved";

/** The listing in six ways: see docs/shop.md. */
const paths = ["", "/exception", "/timeout", "/retry", "/circuitbreaker", "/parallel"].map((way) => `/products${way}`);

export default {
    hypothesis: "The shop lists at least fashion and toys within 2.5 s while hot-deals answers three seconds late.",
    attacks: [{ kind: "fault", service: "hot-deals", radius: "all", delay: "3s" }],
    checks: paths.map((path) => ({
        kind: "http",
        path,
        status: 200,
        json: ["statusFashion", "statusToys"].map((status) => ({ path: status, equals: "REMOTE_SERVICE" })),
        maxLatencyMs: 2_500,
    })),
    story: {
        lesson: "slow",
        failing: ["/products", "/products/exception", "/products/retry"],
        remedy: {
            what:
                "A time limit and a fallback, as in `/products/timeout`, `/products/parallel` and " +
                "`/products/circuitbreaker`. More tries take longer.",
        },
    },
} satisfies SavedExperiment;

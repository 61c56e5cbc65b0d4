import { productsCheck } from "../products";
import type { SavedExperiment } from "../saved";

export default {
    hypothesis: "The shop lists its products while hot-deals fails for one second, works for the next, and so on.",
    // A request each second, as by default, meets both.
    attacks: [{ kind: "fault", service: "hot-deals", radius: "all", abort: 503, pulse: { on: "1s", off: "1s" } }],
    checks: [
        productsCheck,
        {
            kind: "http",
            path: "/products/parallel",
            status: 200,
            json: ["statusFashion", "statusToys"].map((status) => ({ path: status, equals: "REMOTE_SERVICE" })),
        },
    ],
    story: {
        lesson: "flaky",
        failing: ["/products"],
        remedy: { what: "A fallback: `/products/parallel` answers with the lists that it has." },
    },
} satisfies SavedExperiment;

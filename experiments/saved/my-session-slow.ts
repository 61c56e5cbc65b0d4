import { productsCheck } from "../products";
import type { SavedExperiment } from "../saved";

// The gateway passes a caller's X-Request-Id on to the backends.
const mySession = { "X-Request-Id": "my-session" };

export default {
    hypothesis:
        "While hot-deals answers three seconds late in one session, that session still lists fashion and toys, and " +
        "everybody else all products, within 2.5 s.",
    attacks: [{ kind: "fault", service: "hot-deals", radius: "all", delay: "3s", match: { headers: mySession } }],
    checks: [
        { ...productsCheck, maxLatencyMs: 2_500 },
        {
            kind: "http",
            name: "/products/parallel in my session",
            path: "/products/parallel",
            headers: mySession,
            json: ["statusFashion", "statusToys"].map((status) => ({ path: status, equals: "REMOTE_SERVICE" })),
            maxLatencyMs: 2_500,
        },
    ],
    story: {
        lesson: "slow",
        remedy: {
            what: "A `match`: the same fault, for requests with one header only, leaves everybody else alone.",
            compare: "hot-deals-slow",
        },
    },
} satisfies SavedExperiment;

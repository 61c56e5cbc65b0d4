import { productsCheck } from "../products";
import type { SavedExperiment } from "../saved";

// The gateway passes a caller's X-Request-Id on to the backends. So nobody else uses up the first requests.
const mySession = { "X-Request-Id": "my-session" };

export default {
    hypothesis: "A session lists the hot deals although hot-deals answers its first two requests with 429.",
    attacks: [
        {
            kind: "fault",
            service: "hot-deals",
            radius: "all",
            abort: { status: 429, headers: { "retry-after": "1" } },
            first: 2,
            match: { headers: mySession },
        },
    ],
    checks: [
        {
            ...productsCheck,
            name: "/products/retry in my session",
            path: "/products/retry",
            headers: mySession,
            json: [{ path: "statusHotDeals", equals: "REMOTE_SERVICE" }],
        },
    ],
    story: {
        lesson: "flaky",
        remedy: {
            what: "Retries: `/products/retry` asks up to three times, and the third request succeeds.",
            compare: "hot-deals-flaky",
        },
    },
} satisfies SavedExperiment;

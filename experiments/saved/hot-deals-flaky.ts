import { productsCheck } from "../products";
import type { SavedExperiment } from "../saved";

// So many requests that chance does not decide. Of 100 listings, about 70 succeed without retries, and 97 with two.
const nineOfTen = { perSecond: 10, successRate: 0.9 };

export default {
    hypothesis: "Nine of ten listings are complete while three of ten requests to hot-deals fail.",
    attacks: [{ kind: "fault", service: "hot-deals", radius: "all", abort: 503, percentage: "30%" }],
    checks: [
        { ...productsCheck, ...nineOfTen },
        {
            ...productsCheck,
            path: "/products/retry",
            json: [{ path: "statusHotDeals", equals: "REMOTE_SERVICE" }],
            ...nineOfTen,
        },
    ],
    story: {
        lesson: "flaky",
        failing: ["/products"],
        remedy: { what: "Retries: `/products/retry` asks up to three times." },
    },
} satisfies SavedExperiment;

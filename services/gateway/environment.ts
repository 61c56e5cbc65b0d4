import * as z from "zod/mini";
import { labels } from "../../chaos/cluster/labels";
import { httpUrl, milliseconds, programVariables } from "../shared/environment";

/**
 * The gateway's environment. In a cluster, name backends by their bare Service names: the resolver's search list
 * completes those on the first try, while longer names cost several lookups.
 */
export const gatewayEnvironment = z.object({
    ...programVariables,
    FASHION_URL: httpUrl("http://fashion-bestseller"),
    TOYS_URL: httpUrl("http://toys-bestseller"),
    HOT_DEALS_URL: httpUrl("http://hot-deals"),
    /** Does not resolve in a shop without orders. Always set, because changing the variant restarts no gateway. */
    ORDERS_URL: z.prefault(httpUrl("http://orders"), "http://orders"),
    /** Time limit of a request to one backend, connecting included. */
    UPSTREAM_TIMEOUT_MS: milliseconds(2_000),
    /** The label of pods that an experiment attacks. */
    TARGET_LABEL: z._default(z.string(), labels.target),
});

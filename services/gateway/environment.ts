import * as z from "zod/mini";
import { httpUrl, milliseconds, programVariables } from "../shared/environment";

/**
 * The gateway's environment. In a cluster the backends are named by their bare Service names: the resolver's search
 * list completes such a name on its first try, where a longer name costs several lookups.
 */
export const gatewayEnvironment = z.object({
    ...programVariables,
    FASHION_URL: httpUrl("http://fashion-bestseller"),
    TOYS_URL: httpUrl("http://toys-bestseller"),
    HOT_DEALS_URL: httpUrl("http://hot-deals"),
    /** In a shop without orders nobody answers to this name; the gateway is the same in both, and is not restarted. */
    ORDERS_URL: z.prefault(httpUrl("http://orders"), "http://orders"),
    /** How long one backend may take in all, connecting included. */
    UPSTREAM_TIMEOUT_MS: milliseconds(2_000),
    /** The label of pods that an experiment attacks. */
    TARGET_LABEL: z._default(z.string(), "chaos-shop/target"),
});

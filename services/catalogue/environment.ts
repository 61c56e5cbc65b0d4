import * as z from "zod/mini";
import { logLevel, milliseconds, oneOf, port, secret, shutdownDelay, text } from "../shared/environment";
import { CATEGORIES } from "../shared/products";

/** The catalogue's environment; the database is named with the variables PostgreSQL's own programs use. */
export const catalogueEnvironment = z.object({
    PORT: port(8080),
    LOG_LEVEL: logLevel(),
    SHUTDOWN_DELAY_MS: shutdownDelay(),
    /** Whose products this catalogue offers. */
    CATEGORY: oneOf(CATEGORIES),
    PGHOST: text("product-db"),
    PGPORT: port(5432),
    PGUSER: z.prefault(text("shop_reader"), "shop_reader"),
    PGDATABASE: z.prefault(text("shop"), "shop"),
    PGPASSWORD: secret("the password of PGUSER, from a Secret"),
    /** How long a query may take in all, connecting included; less than the gateway waits for an answer. */
    QUERY_TIMEOUT_MS: milliseconds(1_500),
});

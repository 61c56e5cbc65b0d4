import * as z from "zod/mini";
import { logLevel, milliseconds, port, secret, shutdownDelay, text } from "../shared/environment";

/** The environment of the inventory; the database is named with the variables PostgreSQL's own programs use. */
export const inventoryEnvironment = z.object({
    PORT: port(8080),
    LOG_LEVEL: logLevel(),
    SHUTDOWN_DELAY_MS: shutdownDelay(),
    PGHOST: text("product-db"),
    PGPORT: port(5432),
    PGUSER: z.prefault(text("shop_inventory"), "shop_inventory"),
    PGDATABASE: z.prefault(text("shop"), "shop"),
    PGPASSWORD: secret("the password of PGUSER, from a Secret"),
    /** How long the database may take in all, connecting included. */
    QUERY_TIMEOUT_MS: milliseconds(1_500),
    BROKER_HOST: text("message-broker"),
    BROKER_PORT: port(4222),
    BROKER_USER: z.prefault(text("inventory"), "inventory"),
    BROKER_PASSWORD: secret("the password of BROKER_USER, from a Secret"),
});

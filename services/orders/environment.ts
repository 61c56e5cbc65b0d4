import * as z from "zod/mini";
import { logLevel, milliseconds, port, secret, shutdownDelay, text } from "../shared/environment";

/** The environment of orders; the database is named with the variables PostgreSQL's own programs use. */
export const ordersEnvironment = z.object({
    PORT: port(8080),
    LOG_LEVEL: logLevel(),
    SHUTDOWN_DELAY_MS: shutdownDelay(),
    PGHOST: text("product-db"),
    PGPORT: port(5432),
    PGUSER: z.prefault(text("shop_orders"), "shop_orders"),
    PGDATABASE: z.prefault(text("shop"), "shop"),
    PGPASSWORD: secret("the password of PGUSER, from a Secret"),
    /** How long the database may take in all, connecting included; less than the gateway waits for an answer. */
    QUERY_TIMEOUT_MS: milliseconds(1_500),
    BROKER_HOST: text("message-broker"),
    BROKER_PORT: port(4222),
    BROKER_USER: z.prefault(text("orders"), "orders"),
    BROKER_PASSWORD: secret("the password of BROKER_USER, from a Secret"),
});

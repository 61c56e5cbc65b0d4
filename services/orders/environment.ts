import * as z from "zod/mini";
import { brokerVariables, databaseVariables, programVariables } from "../shared/environment";

/** The environment of orders. */
export const ordersEnvironment = z.object({
    ...programVariables,
    ...databaseVariables("shop_orders"),
    ...brokerVariables("orders"),
});

import * as z from "zod/mini";
import { brokerVariables, databaseVariables, programVariables } from "../shared/environment";

/** The environment of the inventory. */
export const inventoryEnvironment = z.object({
    ...programVariables,
    ...databaseVariables("shop_inventory"),
    ...brokerVariables("inventory"),
});

import * as z from "zod/mini";
import { brokerVariables, databaseVariables, programVariables } from "../shared/environment";

/** The environment of orders, or of the inventory. */
export const backofficeEnvironment = (program: "orders" | "inventory") =>
    z.object({ ...programVariables, ...databaseVariables(`shop_${program}`), ...brokerVariables(program) });

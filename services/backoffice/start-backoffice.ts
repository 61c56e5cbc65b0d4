import { runNamed } from "../shared/program";

/** The programs that variant seven adds. */
runNamed({
    orders: () => import("../orders/start-orders.js"),
    inventory: () => import("../inventory/start-inventory.js"),
});

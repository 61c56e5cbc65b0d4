import { runNamed } from "../shared/program";

/** What variant seven adds: orders, and the inventory that reserves what was ordered. */
runNamed({ orders: () => require("../orders/main"), inventory: () => require("../inventory/main") });

import { runNamed } from "../shared/program";

/** The programs that variant seven adds. */
runNamed({ orders: () => import("../orders/main.js"), inventory: () => import("../inventory/main.js") });

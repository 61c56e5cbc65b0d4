import { runNamed } from "../shared/program";

/** The programs of both variants. */
runNamed({ gateway: () => import("../gateway/main.js"), catalogue: () => import("../catalogue/main.js") });

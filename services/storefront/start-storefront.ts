import { runNamed } from "../shared/program";

/** The programs of both variants. */
runNamed({
    gateway: () => import("../gateway/start-gateway.js"),
    catalogue: () => import("../catalogue/start-catalogue.js"),
});

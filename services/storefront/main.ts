import { runNamed } from "../shared/program";

/** What every shop has: the gateway, and the catalogues behind it. */
runNamed({ gateway: () => require("../gateway/main"), catalogue: () => require("../catalogue/main") });

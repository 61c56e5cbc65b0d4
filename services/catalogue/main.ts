import { databaseOf } from "../shared/database";
import { readEnvironment } from "../shared/environment";
import { createLog } from "../shared/log";
import { runProgram } from "../shared/program";
import { createCatalogue } from "./app";
import { openProductDatabase } from "./database";
import { catalogueEnvironment } from "./environment";

runProgram("catalogue", () => {
    const environment = readEnvironment(catalogueEnvironment);
    const log = createLog("catalogue", environment.LOG_LEVEL).child({ category: environment.CATEGORY });
    const database = openProductDatabase(databaseOf(environment, "catalogue"));
    const application = createCatalogue({ category: environment.CATEGORY, database, log });
    return {
        application,
        port: environment.PORT,
        shutdownDelayMs: environment.SHUTDOWN_DELAY_MS,
        log,
        close: () => database.close(),
    };
});

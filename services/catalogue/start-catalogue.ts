import { measureCalls } from "../shared/calls";
import { createMetrics } from "../shared/metrics";
import { runProgram } from "../shared/program";
import { catalogueEnvironment, createCatalogue, openProductDatabase } from "./catalogue-app";

runProgram("catalogue", catalogueEnvironment, (environment, programLog) => {
    const category = environment.CATEGORY;
    const log = programLog.child({ category });
    const metrics = createMetrics();
    const database = openProductDatabase(environment, measureCalls(metrics));
    return { application: createCatalogue({ category, database, metrics, log }), log, close: () => database.close() };
});

import { runProgram } from "../shared/program";
import { catalogueEnvironment, createCatalogue, openProductDatabase } from "./catalogue-app";

runProgram("catalogue", catalogueEnvironment, (environment, programLog) => {
    const category = environment.CATEGORY;
    const log = programLog.child({ category });
    const database = openProductDatabase(environment);
    return { application: createCatalogue({ category, database, log }), log, close: () => database.close() };
});

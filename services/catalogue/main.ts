import { databaseOf } from "../shared/database";
import { runProgram } from "../shared/program";
import { catalogueEnvironment, createCatalogue } from "./app";
import { openProductDatabase } from "./database";

runProgram("catalogue", catalogueEnvironment, (environment, programLog) => {
    const category = environment.CATEGORY;
    const log = programLog.child({ category });
    const database = openProductDatabase(databaseOf(environment, "catalogue"));
    return { application: createCatalogue({ category, database, log }), log, close: () => database.close() };
});

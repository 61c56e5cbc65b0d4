import { READER_PASSWORD, type TestDatabase } from "./database";
import { startProgram, type RunningProgram } from "./programs";

/** The shop of variant four as processes, before a real database. */
export interface RunningShop {
    gateway: RunningProgram;
    /** By category. */
    catalogues: Record<string, RunningProgram>;
    /** Kills all of them; the database stays. */
    kill(): void;
}

export function startCatalogue(database: TestDatabase, category: string, environment: Record<string, string> = {}): Promise<RunningProgram> {
    const connection = { PGHOST: "127.0.0.1", PGPORT: String(database.port), PGPASSWORD: READER_PASSWORD };
    return startProgram("catalogue", { CATEGORY: category, ...connection, ...environment });
}

/** @param environment for all of the programs, besides their own */
export async function startShop(database: TestDatabase, environment: Record<string, string> = {}): Promise<RunningShop> {
    const catalogues: Record<string, RunningProgram> = {};
    for (const category of ["FASHION", "TOYS", "HOT_DEALS"]) {
        catalogues[category] = await startCatalogue(database, category, environment);
    }
    const gateway = await startProgram("gateway", {
        FASHION_URL: catalogues.FASHION!.url,
        TOYS_URL: catalogues.TOYS!.url,
        HOT_DEALS_URL: catalogues.HOT_DEALS!.url,
        ...environment,
    });
    return { gateway, catalogues, kill: () => [gateway, ...Object.values(catalogues)].forEach((program) => program.kill()) };
}

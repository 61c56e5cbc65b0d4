import { BROKER_PASSWORDS, type TestBroker } from "./broker";
import { INVENTORY_PASSWORD, ORDERS_PASSWORD, READER_PASSWORD, type TestDatabase } from "./database";
import { startProgram, type RunningProgram } from "./programs";

/** The shop of variant four as processes, with a real database. */
export interface RunningShop {
    gateway: RunningProgram;
    /** By category. */
    catalogues: Record<string, RunningProgram>;
    /** Kills all programs; the database stays. */
    kill(): void;
}

export function startCatalogue(
    database: TestDatabase,
    category: string,
    environment: Record<string, string> = {},
): Promise<RunningProgram> {
    const connection = { PGHOST: "127.0.0.1", PGPORT: String(database.port), PGPASSWORD: READER_PASSWORD };
    return startProgram("catalogue", { CATEGORY: category, ...connection, ...environment });
}

/** @param environment more variables for all programs */
export async function startShop(
    database: TestDatabase,
    environment: Record<string, string> = {},
): Promise<RunningShop> {
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
    return {
        gateway,
        catalogues,
        kill: () => [gateway, ...Object.values(catalogues)].forEach((program) => program.kill()),
    };
}

/** The programs that variant seven adds, as processes, with a real database and a real broker. */
export async function startOrdering(
    database: { port: number },
    broker: TestBroker,
): Promise<{ orders: RunningProgram; inventory: RunningProgram }> {
    const common = {
        PGHOST: "127.0.0.1",
        PGPORT: String(database.port),
        BROKER_HOST: "127.0.0.1",
        BROKER_PORT: String(broker.port),
    };
    const [orders, inventory] = await Promise.all([
        startProgram("orders", {
            ...common,
            PGPASSWORD: ORDERS_PASSWORD,
            BROKER_PASSWORD: BROKER_PASSWORDS.orders,
        }),
        startProgram("inventory", {
            ...common,
            PGPASSWORD: INVENTORY_PASSWORD,
            BROKER_PASSWORD: BROKER_PASSWORDS.inventory,
        }),
    ]);
    return { orders, inventory };
}

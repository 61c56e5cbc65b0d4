import * as z from "zod/mini";
import { type BrokerArgs, openBroker } from "../shared/broker";
import type { Database } from "../shared/database";
import { brokerVariables, databaseVariables, programVariables } from "../shared/environment";
import { watch } from "../shared/watch";

export const backofficeEnvironment = (program: "orders" | "inventory") =>
    z.object({ ...programVariables, ...databaseVariables(`shop_${program}`), ...brokerVariables(program) });

export function connect(database: Database, args: BrokerArgs) {
    const databaseWatch = watch(database.checkFreshConnection, database.destroyConnections);
    const broker = openBroker(args);
    return {
        /** Ready without its database, too: the program can still serve its problem document. */
        checkReachability: async () => {
            if (!databaseWatch.reachable() && !broker.reachable())
                throw new Error("Neither the database nor the broker can be reached.");
        },
        close: async () => {
            databaseWatch.stop();
            await broker.close();
            await database.close();
        },
    };
}

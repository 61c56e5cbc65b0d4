import { runBackoffice } from "../backoffice/connect";
import type { BrokerLink } from "../shared/broker";
import { acceptedSchema } from "../shared/order";
import { createInventory, openStock } from "./inventory-app";

runBackoffice("inventory", (database) => {
    const stock = openStock(database);
    // The order is acknowledged after the decision is published. A program killed in between gets the order again and
    // publishes the same decision.
    const decideOrders = ({ consume, publish }: BrokerLink) =>
        consume("orders.accepted", acceptedSchema, async (accepted, scope) => {
            const decided = await stock.reserve(accepted);
            await publish("orders.decided", decided.orderId, decided, scope.headers);
            scope.log.info({ orderId: decided.orderId, outcome: decided.outcome }, "order decided");
        });
    return { work: [decideOrders], serve: (args) => createInventory({ stock, ...args }) };
});

import { randomUUID } from "node:crypto";
import type { Database } from "../shared/database";
import type { Decided, Item, OrderState } from "../shared/orders";
import type { Scope } from "../shared/scope";

/** An order as its customer sees it. */
export interface Order {
    id: string;
    state: OrderState;
    /** Why it was rejected. */
    reason?: string;
    items: Item[];
    acceptedAt: string;
    settledAt?: string;
}

/** An order on its way to the inventory. */
export interface Unsent {
    id: string;
    items: Item[];
    trace: Record<string, string>;
}

/** What became of placing an order. */
export type Placed =
    | { kind: "accepted"; order: Order }
    /** The key was used before, for other items. */
    | { kind: "other-items" }
    | { kind: "unknown-products"; productIds: Set<string> };

interface Row {
    id: string;
    state: OrderState;
    reason: string | null;
    items: Item[];
    accepted_at: Date;
    settled_at: Date | null;
}

/** How long the inventory is given to decide before it is told of an order again, in seconds. */
const SEND_AGAIN_SECONDS = 10;

/**
 * The orders in the database. The row of an order is also what makes sure that the inventory hears of it: it is due to
 * be sent from the moment it is there until it is settled, and again whenever nothing came of it for ten seconds, be it
 * that the broker lost it or that a program was killed. The inventory decides an order once, however often it hears.
 */
export function openBook(database: Database) {
    return {
        /** Writes an order down, once for each key; the same order with the same key gives what is there. */
        place(key: string, items: Item[], scope: Scope): Promise<Placed> {
            return database.ask(async (sql) => {
                const ids = items.map(({ productId }) => productId);
                const [written] = await sql<Row[]>`
                    insert into shop_order (id, idempotency_key, items, trace)
                    select ${randomUUID()}::uuid, ${key}, ${sql.json(items)}, ${sql.json(scope.headers)}
                    where (select count(*) from product where id in ${sql(ids)}) = ${ids.length}
                    on conflict (idempotency_key) do nothing
                    returning *`;
                if (written) return { kind: "accepted", order: orderOf(written) };

                const [there] = await sql<(Row & { same: boolean })[]>`
                    select *, items = ${sql.json(items)} as same from shop_order where idempotency_key = ${key}`;
                if (there) return there.same ? { kind: "accepted", order: orderOf(there) } : { kind: "other-items" };

                const known = await sql<{ id: string }[]>`select id from product where id in ${sql(ids)}`;
                const missing = new Set(ids);
                known.forEach(({ id }) => missing.delete(id));
                return { kind: "unknown-products", productIds: missing };
            });
        },

        find(id: string): Promise<Order | undefined> {
            return database.ask(async (sql) => {
                const [row] = await sql<Row[]>`select * from shop_order where id = ${id}`;
                return row && orderOf(row);
            });
        },

        /** Takes orders that are due, the oldest first; nobody else takes them for the next ten seconds. */
        takeDue(limit: number): Promise<Unsent[]> {
            return database.ask((sql) =>
                sql<Unsent[]>`
                    update shop_order set send_after = now() + make_interval(secs => ${SEND_AGAIN_SECONDS})
                    where id in (
                        select id from shop_order where state = 'ACCEPTED' and send_after <= now()
                        order by send_after limit ${limit} for update skip locked)
                    returning id, items, trace`.execute(),
            );
        },

        /** Notes what the inventory decided. @returns whether it was news */
        settle({ orderId, outcome, reason }: Decided): Promise<boolean> {
            return database.ask(async (sql) => {
                const { count } = await sql`
                    update shop_order set state = ${outcome}, reason = ${reason ?? null}, settled_at = now()
                    where id = ${orderId} and state = 'ACCEPTED'`;
                return count > 0;
            });
        },

        countByState(): Promise<Record<string, number>> {
            return database.ask(async (sql) => {
                const rows = await sql<
                    { state: OrderState; count: string }[]
                >`select state, count(*) from shop_order group by state`;
                return Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)]));
            });
        },
    };
}
export type Book = ReturnType<typeof openBook>;

function orderOf({ id, state, reason, items, accepted_at, settled_at }: Row): Order {
    return {
        id,
        state,
        ...(reason !== null && { reason }),
        items,
        acceptedAt: accepted_at.toISOString(),
        ...(settled_at !== null && { settledAt: settled_at.toISOString() }),
    };
}

import { randomUUID } from "node:crypto";
import type { Database } from "../shared/database";
import type { Decided, Item, OrderState } from "../shared/order";
import type { Scope } from "../shared/scope";

/** An order, as its customer sees it. */
export interface Order {
    id: string;
    state: OrderState;
    /** Why the order was rejected. */
    reason?: string;
    items: Item[];
    acceptedAt: string;
    settledAt?: string;
}

export interface Unsent {
    id: string;
    items: Item[];
    trace: Record<string, string>;
}

export type Placed =
    | { kind: "accepted"; order: Order }
    /** The key belongs to an order with other items. */
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

/** An order without a decision is sent again after this time, in seconds. */
const SEND_AGAIN_SECONDS = 10;

/**
 * The orders in the database. An order's row is also its outbox entry: until the order is settled, it is sent every ten
 * seconds, in case the broker lost the message or a program was killed. The inventory decides each order once, however
 * often it receives it.
 */
export function openBook(database: Database) {
    return {
        /** Stores an order, once per key. The same key with the same items returns the stored order. */
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

        /** Takes orders that are due, oldest first. No other call gets them for the next ten seconds. */
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

        /** Stores the inventory's decision. @returns whether the order was undecided until then */
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

-- What the shop stores; run by the account `shop` on each start, together with the seed in one transaction.
create table if not exists product (
    id uuid primary key,
    name text not null check (name <> ''),
    category text not null check (category in ('FASHION', 'TOYS', 'HOT_DEALS'))
);
create index if not exists product_by_category on product (category, name);

-- What is left of each product; and which orders were decided, so that none is decided twice.
create table if not exists stock (
    product_id uuid primary key references product,
    quantity integer not null check (quantity >= 0)
);
create table if not exists reservation (
    order_id uuid primary key,
    outcome text not null check (outcome in ('FULFILLED', 'REJECTED')),
    reason text,
    decided_at timestamptz not null default now()
);

-- Decides an order once and for all: everything that it asks for is taken from the stock, or nothing. `items` is an array
-- of objects with `productId`, each another one, and `quantity`. A function, so that decision and stock change in one
-- statement: whoever asks may be gone at any moment.
create or replace function reserve(asked_order uuid, items jsonb) returns reservation language plpgsql as $$
declare
    decided reservation;
    short text;
begin
    -- In one order always, so that no two wait for each other; and first, so that the same order in two places is seen below.
    perform from stock
        where product_id in (select "productId" from jsonb_to_recordset(items) as item ("productId" uuid))
        order by product_id for update;
    select * into decided from reservation where order_id = asked_order;
    if found then
        return decided;
    end if;

    select string_agg("productId"::text, ', ' order by "productId") into short
        from jsonb_to_recordset(items) as item ("productId" uuid, quantity integer) left join stock on product_id = "productId"
        where coalesce(stock.quantity, 0) < item.quantity;
    if short is null then
        update stock set quantity = stock.quantity - item.quantity
            from jsonb_to_recordset(items) as item ("productId" uuid, quantity integer) where product_id = "productId";
    end if;
    insert into reservation (order_id, outcome, reason)
        values (asked_order, case when short is null then 'FULFILLED' else 'REJECTED' end, 'Out of stock: ' || short || '.')
        returning * into decided;
    return decided;
end $$;

create table if not exists shop_order (
    id uuid primary key,
    idempotency_key text not null unique,
    items jsonb not null,
    state text not null default 'ACCEPTED' check (state in ('ACCEPTED', 'FULFILLED', 'REJECTED')),
    reason text,
    accepted_at timestamptz not null default now(),
    settled_at timestamptz,
    -- From then on the inventory is to be told, as long as the order is not settled.
    send_after timestamptz not null default now(),
    -- Headers of the request that it came with: its id, its trace.
    trace jsonb not null
);
create index if not exists shop_order_to_send on shop_order (send_after) where state = 'ACCEPTED';

grant select on product to shop_reader, shop_orders;
grant select, insert, update (state, reason, settled_at, send_after) on shop_order to shop_orders;
grant select, update (quantity) on stock to shop_inventory;
grant select, insert on reservation to shop_inventory;
revoke execute on function reserve from public;
grant execute on function reserve to shop_inventory;

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

-- What the shop stores; run by the account `shop` on each start, together with the seed in one transaction.
create table if not exists product (
    id uuid primary key,
    name text not null check (name <> ''),
    category text not null check (category in ('FASHION', 'TOYS', 'HOT_DEALS'))
);
create index if not exists product_by_category on product (category, name);

grant select on product to shop_reader;

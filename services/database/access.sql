-- The shop's accounts and database; run by the superuser on each start, so that a changed password takes effect.
-- The passwords are read from files: environments are shown by many tools, and inherited.
\set shop_password `cat "$PASSWORDS/owner"`
\set reader_password `cat "$PASSWORDS/reader"`
\set orders_password `cat "$PASSWORDS/orders"`
\set inventory_password `cat "$PASSWORDS/inventory"`

-- Else a statement that fails is logged whole, passwords and all.
set log_min_error_statement = panic;

select 'create role shop' where not exists (select from pg_roles where rolname = 'shop') \gexec
select 'create role shop_reader' where not exists (select from pg_roles where rolname = 'shop_reader') \gexec
select 'create role shop_orders' where not exists (select from pg_roles where rolname = 'shop_orders') \gexec
select 'create role shop_inventory' where not exists (select from pg_roles where rolname = 'shop_inventory') \gexec
alter role shop login password :'shop_password';
alter role shop_reader login password :'reader_password';
alter role shop_orders login password :'orders_password';
alter role shop_inventory login password :'inventory_password';

select 'create database shop owner shop' where not exists (select from pg_database where datname = 'shop') \gexec
revoke all on database shop from public;
grant connect on database shop to shop_reader, shop_orders, shop_inventory;

-- The shop's accounts and database; run by the superuser on each start, so that a changed password takes effect.
\getenv shop_password POSTGRES_PASSWORD
\getenv reader_password READER_PASSWORD

-- Else a statement that fails is logged whole, passwords and all.
set log_min_error_statement = panic;

select 'create role shop' where not exists (select from pg_roles where rolname = 'shop') \gexec
select 'create role shop_reader' where not exists (select from pg_roles where rolname = 'shop_reader') \gexec
alter role shop login password :'shop_password';
alter role shop_reader login password :'reader_password';

select 'create database shop owner shop' where not exists (select from pg_database where datname = 'shop') \gexec
revoke all on database shop from public;
grant connect on database shop to shop_reader;

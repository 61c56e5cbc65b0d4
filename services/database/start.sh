#!/bin/sh
# Starts the product database: makes it on the first start, brings accounts, schema and products up to date on each,
# and only then opens it to the network. Runs on any image with Debian's PostgreSQL layout (the official one too)
# under the `restricted` Pod Security level; it writes to the data's folder and to RUN_DIR, nowhere else.
#
#   PGDATA       the data; a folder inside of the writable volume, not the volume itself
#   PASSWORDS    a folder with a file for the password of each account, from a Secret; access.sql reads them:
#                `owner` of the account `shop`, which owns the database `shop`; `reader` of `shop_reader`, which may
#                only read; `orders` of `shop_orders`, which keeps the orders; `inventory` of `shop_inventory`, which
#                keeps the stock
#   RUN_DIR      the socket is made in its folder product-db; /tmp unless told
#   PGPORT       5432 unless told
set -eu

say() { echo "database: $*" >&2; }
fail() {
    say "$*"
    exit 1
}

mistakes=
mistake() { mistakes="$mistakes
  $*"; }

configuration=$(cd "$(dirname "$0")" && pwd)
run=${RUN_DIR:-/tmp}
data=${PGDATA:-}
passwords=${PASSWORDS:-}
[ -n "$passwords" ] || mistake "PASSWORDS is not set; set it to a folder with the accounts' passwords, from a Secret"
for account in owner reader orders inventory; do
    [ -z "$passwords" ] || [ -n "$(cat "$passwords/$account" 2>/dev/null)" ] ||
        mistake "PASSWORDS is $passwords, but $passwords/$account is no file with a password; mount the Secret there"
done
[ "$(id -u)" != 0 ] || mistake "the user is root, which PostgreSQL refuses; set runAsUser, for example to 999"
[ -w "$run" ] || mistake "RUN_DIR is $run, which is not writable; mount an emptyDir there"
case $data in
    /*) [ -w "$(dirname "$data")" ] || mistake "PGDATA is $data, but $(dirname "$data") is not writable;" \
        "set it to a folder inside of the mounted volume, for example /var/lib/postgresql/data/shop" ;;
    *) mistake "PGDATA is '$data'; set an absolute path, for example /var/lib/postgresql/data/shop" ;;
esac
[ -z "$mistakes" ] || fail "cannot start:$mistakes"

if [ -s "$data/PG_VERSION" ]; then
    version=$(cat "$data/PG_VERSION")
else
    version=$(ls /usr/lib/postgresql 2>/dev/null | sort -n | tail -n 1)
fi
bin=/usr/lib/postgresql/$version/bin
[ -x "$bin/postgres" ] || fail "cannot start: this image has no PostgreSQL ${version:+$version }under" \
    "/usr/lib/postgresql (found: $(ls /usr/lib/postgresql 2>/dev/null | tr '\n' ' ')); use an image of the version" \
    "that made the data, for example docker.io/library/postgres:${version:-15}-bookworm"

# Two servers on the same data destroy it. postmaster.pid cannot tell in containers: two pods both call their server
# process 7, and after a kill the number may belong to somebody else, which keeps the next start out. A lock on the
# volume can: all processes of a server inherit it, so it is free when, and only when, the last of them is gone. Then
# a postmaster.pid or a socket that is left over means nothing.
exec 9>"$data.lock"
flock -w 10 9 || fail "cannot start: another server still uses $data after 10 s"
rm -f "$data/postmaster.pid"
socket=$run/product-db
rm -rf "$socket"
mkdir -m 700 "$socket"

# As process 1 a shell without these ignores SIGTERM.
preparation=
trap '[ -z "$preparation" ] || kill -QUIT "$preparation" 2>/dev/null || true' EXIT
trap 'exit 143' TERM INT

if [ ! -s "$data/PG_VERSION" ]; then
    # Made elsewhere and moved into place whole: what a killed first start leaves is not taken for a database.
    if [ -d "$data" ] && ! rmdir "$data" 2>/dev/null; then
        fail "cannot start: $data is a mounted volume or holds something that is no database; set PGDATA to" \
            "another folder inside of the volume, for example $data/shop"
    fi
    rm -rf "$data.new"
    say "makes a new database in $data"
    # The superuser has no password and can log in through the socket only; see pg_hba.conf.
    # initdb wants a name for its user. A cluster that assigns ids may give pods one that the image does not know;
    # Debian's images have a library that tells it one.
    if ! getent passwd "$(id -u)" >/dev/null; then
        for library in /usr/lib/*/libnss_wrapper.so; do
            [ -e "$library" ] || fail "cannot start: user $(id -u) has no name in this image, and initdb wants one;" \
                "set runAsUser, for example to 999, or use an image with libnss_wrapper, such as postgres:15-bookworm"
            echo "postgres:x:$(id -u):$(id -g)::/:/bin/false" >"$run/passwd"
            export NSS_WRAPPER_PASSWD="$run/passwd" NSS_WRAPPER_GROUP=/etc/group LD_PRELOAD="$library"
            break
        done
    fi
    "$bin/initdb" --pgdata "$data.new" --username postgres --auth-local trust --auth-host scram-sha-256 \
        --encoding UTF8 --locale C.UTF-8 --data-checksums >/dev/null
    unset LD_PRELOAD
    rm -f "$data.new/postgresql.conf" "$data.new/pg_hba.conf"
    mv "$data.new" "$data"
fi

# serve OPTION...: becomes the server.
serve() {
    exec "$bin/postgres" -D "$data" -c config_file="$configuration/postgresql.conf" \
        -c hba_file="$configuration/pg_hba.conf" -c unix_socket_directories="$socket" "$@"
}

serve -c listen_addresses= &
preparation=$!
until "$bin/pg_isready" --quiet --host "$socket"; do
    kill -0 $preparation 2>/dev/null || fail "cannot start: PostgreSQL ended; its last words are above"
    sleep 0.1
done
ask() { "$bin/psql" --no-psqlrc --quiet --host "$socket" --username postgres --set ON_ERROR_STOP=1 "$@"; }
ask --dbname postgres --file "$configuration/access.sql"
PGOPTIONS="-c role=shop -c client_min_messages=warning" ask --dbname shop --single-transaction \
    --file "$configuration/schema.sql" --file "$configuration/seed.sql"
kill -INT $preparation
wait $preparation
preparation=

# To PostgreSQL SIGTERM means to wait until each client has left by itself, and a pool's connections never do. What a
# pod needs is a fast shutdown: SIGINT. So this shell stays, and translates.
serve &
server=$!
trap 'kill -INT $server' TERM INT
say "serves the products"
status=0
wait $server || status=$?
# A signal ends `wait` before the server has ended.
while kill -0 $server 2>/dev/null; do
    status=0
    wait $server || status=$?
done
exit $status

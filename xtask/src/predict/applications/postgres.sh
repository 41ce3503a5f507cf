# PostgreSQL in the current directory, with its own checkpoints, and pgbench.
# Usage: postgres.sh prepare|run SCALE BUFFERS SECONDS
set -eu
step=$1 scale=$2 buffers=$3 seconds=$4
bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)

# The server refuses to run as root.
as_postgres() { runuser -u postgres -- "$@"; }

start() {
    as_postgres "$bin/pg_ctl" -s -w -D data -l data/log -o "-k $PWD -c listen_addresses= \
        -c shared_buffers=$buffers -c max_wal_size=32MB -c min_wal_size=16MB" start
    trap 'stop immediate' EXIT
}

stop() {
    trap - EXIT
    as_postgres "$bin/pg_ctl" -s -w -D data -m "$1" stop
}

bench() { "$bin/pgbench" -n -h "$PWD" -U postgres "$@" postgres; }

case $step in
prepare)
    chown postgres .
    as_postgres "$bin/initdb" -D data -A trust --locale=C --wal-segsize=4 --no-sync >/dev/null
    start
    bench -i -I dtgp -q -s "$scale" 2>/dev/null
    stop fast
    ;;
run)
    start
    bench -c 4 -j 2 -T "$seconds"
    stop immediate
    ;;
esac

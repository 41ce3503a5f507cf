# MariaDB in the current directory, and sysbench.
# Usage: mariadb.sh prepare|run SECONDS
set -eu
step=$1 seconds=$2

start() {
    mariadbd --no-defaults --user=root --datadir="$PWD/data" --socket="$PWD/socket" --skip-networking \
        --innodb-buffer-pool-size=16M --innodb-log-file-size=16M --innodb-flush-method=O_DIRECT \
        --log-error="$PWD/data/log" "$@" &
    server=$!
    trap 'kill -KILL $server' EXIT
    until mariadb-admin --no-defaults --socket="$PWD/socket" ping >/dev/null 2>&1; do
        kill -0 $server
        sleep 0.1
    done
}

bench() {
    sysbench oltp_read_write --db-driver=mysql --mysql-socket="$PWD/socket" --mysql-user=root \
        --mysql-db=bench --tables=2 --table-size=60000 --threads=4 "$@"
}

case $step in
prepare)
    mariadb-install-db --no-defaults --user=root --datadir="$PWD/data" --skip-test-db \
        --auth-root-authentication-method=normal >/dev/null
    start --innodb-flush-log-at-trx-commit=0
    mariadb-admin --no-defaults --socket="$PWD/socket" create bench
    bench prepare >/dev/null
    trap - EXIT
    mariadb-admin --no-defaults --socket="$PWD/socket" shutdown
    wait $server
    ;;
run)
    start
    bench --time="$seconds" run
    ;;
esac

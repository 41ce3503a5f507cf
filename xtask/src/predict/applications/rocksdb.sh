# RocksDB in the current directory: four threads that read, and write with a sync, at random.
# Usage: rocksdb.sh prepare|run SECONDS
set -eu
step=$1 seconds=$2

bench() {
    db_bench --db="$PWD/db" --num=200000 --value_size=400 --compression_type=none \
        --write_buffer_size=4194304 "$@"
}

case $step in
prepare) bench --benchmarks=fillrandom,waitforcompaction ;;
run)
    bench --use_existing_db=1 --benchmarks=readrandomwriterandom --readwritepercent=80 --threads=4 \
        --duration="$seconds" --sync=1 --use_direct_reads=1 --cache_size=4194304
    ;;
esac

#!/bin/sh
# Makes the sample report and its pictures from new runs: docs/report/make.sh [FATHOM]
# Needs 300 MiB where temporary files go (TMPDIR), on a disk: files in memory take no O_DIRECT.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
program=$(command -v "${1:-fathom}")
# By its name alone: what was typed is in the report.
PATH=$(cd "$(dirname "$program")" && pwd):$PATH
fathom=$(basename "$program")

work=$(mktemp -d)
neighbour=
finish() {
    [ -z "$neighbour" ] || kill "$neighbour" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP
cd "$work"

cat >database.fio <<'JOB'
; What a small database asks of its disk: 4 KiB reads at random places, eight at a time.
[database]
filename=data
size=256m
rw=randread
bs=4k
direct=1
ioengine=io_uring
iodepth=8
time_based
runtime=20s
ramp_time=3s
JOB

"$fathom" run --record=alone.json --output=alone.txt database.fio
# Another program that reads the same disk, in large blocks.
"$fathom" run --name=neighbour --filename=data --size=256m --rw=read --bs=1m --direct=1 \
    --ioengine=io_uring --iodepth=4 --time_based --runtime=60s --output=neighbour.txt &
neighbour=$!
"$fathom" run --record=beside.json --output=beside.txt database.fio
kill "$neighbour"
wait "$neighbour" || true
neighbour=

"$fathom" report alone=alone.json "beside a neighbour=beside.json" -o "$here/sample.html"
"$fathom" report "beside a neighbour=beside.json" --chart heatmap -o "$here/heatmap.svg"
"$fathom" report alone=alone.json "beside a neighbour=beside.json" --chart percentiles \
    -o "$here/percentiles.svg"

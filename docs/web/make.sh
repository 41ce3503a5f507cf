#!/bin/sh
# Makes the pictures of the pages of `fathom serve` from new runs in an archive of their own:
# docs/web/make.sh [FATHOM]
# Needs curl, Chromium with its chromedriver (Debian: chromium-driver), and 300 MiB where temporary
# files go (TMPDIR), on a disk: files in memory take no O_DIRECT.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
program=$(command -v "${1:-fathom}")
# By its name alone: what was typed is in the pages.
PATH=$(cd "$(dirname "$program")" && pwd):$PATH
fathom=$(basename "$program")

work=$(mktemp -d)
serve=
driver=
neighbour=
finish() {
    [ -z "$serve" ] || kill "$serve" 2>/dev/null || true
    [ -z "$neighbour" ] || kill "$neighbour" 2>/dev/null || true
    [ -z "$driver" ] || kill "$driver" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP
cd "$work"
export FATHOM_ARCHIVE="$work/archive.db"

# Waits until a command succeeds, half a minute at most.
patiently() {
    for _ in $(seq 300); do
        if "$@"; then return; fi
        sleep 0.1
    done
    echo "$*: not within half a minute" >&2
    exit 1
}

# A job of so many seconds: name, seconds, more options.
job() {
    name=$1 seconds=$2
    shift 2
    "$fathom" run --name="$name" --filename=data --size=256m --direct=1 --ioengine=io_uring \
        --time_based --runtime="${seconds}s" "$@" >report.txt
}

database() {
    seconds=$1
    shift
    job database "$seconds" --rw=randread --bs=4k --iodepth=8 "$@"
}

"$fathom" run --name=layout --filename=data --size=256m --create_only=1 --no-archive >report.txt
"$fathom" sweep --into=sweep --vary bs=4k,16k,64k --vary iodepth=1,4,16 --repeat=1 \
    --name=swept --filename=data --size=256m --direct=1 --ioengine=io_uring --rw=randread \
    --time_based --runtime=1s >report.txt
job scan 2 --rw=read --bs=1m --iodepth=4
job log 2 --rw=write --bs=4k --iodepth=1 --fdatasync=1
job ingest 2 --rw=randwrite --bs=16k --iodepth=4 --repeat=3
for _ in 1 2 3 4 5 6 7; do database 2; done
"$fathom" runs tag latest quiet
# Another program that reads the same disk, in large blocks.
"$fathom" run --name=neighbour --filename=data --size=256m --rw=read --bs=1m --direct=1 \
    --ioengine=io_uring --iodepth=4 --time_based --runtime=120s --no-archive >neighbour.txt &
neighbour=$!
for _ in 1 2 3 4 5 6 7; do database 2; done
database 10 --ramp_time=2s
"$fathom" runs note latest "Another tenant has moved in: its scans take a part of the disk." >report.txt
"$fathom" runs tag latest crowded
kill "$neighbour"
wait "$neighbour" || true
neighbour=

"$fathom" serve --archive="$FATHOM_ARCHIVE" --listen=127.0.0.1:0 >address 2>served.txt &
serve=$!
patiently grep -q 'http://' address
url=$(sed -n 's/^\(http:[^?]*\)?token=.*/\1/p' address)
token=$(sed -n 's/.*?token=//p' address)

HOME=$work TMPDIR=$work chromedriver --port=0 >driver.txt 2>&1 &
driver=$!
patiently grep -q 'successfully on port [1-9]' driver.txt
port=$(sed -n 's/.*successfully on port \([1-9][0-9]*\).*/\1/p' driver.txt)

# Asks the driver for something in JSON: path, body.
ask() {
    curl --silent --fail --noproxy '*' --header 'Content-Type: application/json' \
        --data "$2" "http://127.0.0.1:$port$1"
}

session=$(ask /session '{"capabilities": {"alwaysMatch": {"browserName": "chrome",
    "goog:chromeOptions": {"args": ["--headless=new", "--no-sandbox", "--disable-gpu",
    "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
    "--disable-background-networking"]}}}}' | sed -n 's/.*"sessionId":"\([^"]*\)".*/\1/p')

# A command of the browser's own protocol, with its parameters.
protocol() {
    ask "/session/$session/goog/cdp/execute" "{\"cmd\": \"$1\", \"params\": $2}"
}

# A picture: file, address, width, height, "light" or "dark".
picture() {
    protocol Emulation.setDeviceMetricsOverride \
        "{\"width\": $3, \"height\": $4, \"deviceScaleFactor\": 1, \"mobile\": false}" >answer
    protocol Emulation.setScrollbarsHidden '{"hidden": true}' >answer
    protocol Emulation.setEmulatedMedia \
        "{\"features\": [{\"name\": \"prefers-color-scheme\", \"value\": \"$5\"}]}" >answer
    ask "/session/$session/url" "{\"url\": \"$url$2\"}" >answer
    protocol Page.captureScreenshot '{"format": "png"}' |
        sed -n 's/.*"data":"\([^"]*\)".*/\1/p' | base64 --decode >"$here/$1"
    echo "$1: $(($(wc -c <"$here/$1") / 1024)) KiB"
}

ask "/session/$session/url" "{\"url\": \"$url?token=$token\"}" >answer
sweep=$("$fathom" runs kind=sweep --json | sed -n 's/.*"set": *"\([^"]*\)".*/\1/p' | head -n 1)
picture runs.png runs 1280 800 light
picture runs-dark.png runs 1280 800 dark
picture run.png runs/latest 1280 1000 light
picture run-phone.png runs/latest 390 844 light
picture compare.png 'compare?run=quiet&run=crowded' 1280 1000 light
picture sweep.png "sets/$sweep?metric=p99" 1280 1000 dark
picture trends.png 'trends?filter=job%3Ddatabase' 1280 800 light
ask "/session/$session/url" '{"url": "about:blank"}' >answer
curl --silent --noproxy '*' --request DELETE "http://127.0.0.1:$port/session/$session" >answer

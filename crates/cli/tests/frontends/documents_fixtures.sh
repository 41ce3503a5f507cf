# Makes the files and servers that the lines of a document name, see documents.sh.
named() { grep -qF -e "$1" "$LINES_FILE"; }
quietly() { "$PROGRAM" "$@" > /dev/null; }

mkdir -p bin .local/share/bash-completion/completions
printf 'retry = 9\nretry-connrefused\nretry-delay = 1\nsilent\n' > .curlrc
cp -r "$REPOSITORY/examples" .
job='rw=randread\nbs=4k\nsize=1m\ntime_based\nruntime=200ms\n'
for name in job read; do printf "[randread]\n$job" > $name.fio; done
# Long enough for pictures over time.
printf "[randread]\nlog_avg_msec=50\n${job%200ms*}800ms\n" > db.fio
printf "[a]\nfilename=/data/a\n$job" > a.fio
printf "[a]\nfilename=/data/a\n$job" > b.fio
# Read, or written in parts: as large as they are named, without the time to fill them.
named /data/file && truncate -s 4g /data/file
named /data/x && truncate -s 1g /data/x
named disk.img && truncate -s 256m disk.img
for record in before after base change a1 a2 a3 b1 b2; do
    if named "$record.json"; then quietly run a.fio --record="$record.json"; fi
done
for record in ssd hdd; do
    if named "$record.json"; then quietly app sqlite . --rows 100 --record "$record.json"; fi
done
if named trace.ftr; then
    quietly run --no-archive --name=app --rw=randrw --size=8m --thinktime=200us --time_based --runtime=500ms --write_iolog=t.ftr
    mv t.1.ftr trace.ftr
fi
if named hosts.txt; then echo 10.0.0.2 > hosts.txt; fi
if named photos; then mkdir photos && cp examples/*.fio photos; fi
if named src/thing; then
    mkdir -p src/thing
    printf '#!/bin/sh\n' > src/thing/configure
    chmod +x src/thing/configure
    printf 'thing: thing.c\n' > src/thing/Makefile
    echo 'int main(void) { return 0; }' > src/thing/thing.c
fi
# An archive with the runs that are named: ids are digests, so one is changed to that in the documents.
if named 'fathom runs' || named 'fathom trend' || named latest || named sqlite3; then
    for start in 1 2; do quietly run job.fio; done
    if named job=nightly; then quietly run --name=nightly --rw=read --size=1m; fi
    sqlite3 .local/share/fathom/archive.db "UPDATE runs SET id = '7f3a9c21' || substr(id, 9) WHERE number = 1;
        UPDATE runs SET device = 'nvme0n1'; UPDATE facts SET value = 'nvme0n1' WHERE name = 'device'"
    if named baseline; then quietly runs tag latest~1 baseline; fi
    if named archive.db; then cp .local/share/fathom/archive.db .; fi
fi
if named strace.txt; then echo '7 1700000000.5 pwrite64(3</data/x>, "", 4096, 0) = 4096 <0.0001>' > strace.txt; fi
if named token && ! named '> token'; then (umask 077 && echo 0123456789abcdef > token); fi
if named server.pem; then
    # An authority, and a certificate of it for this host.
    key='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
    openssl req -x509 $key -keyout ca.key -out ca.pem -subj /CN=authority -days 2 2> /dev/null
    openssl req $key -keyout server.key -out server.csr -subj /CN=server 2> /dev/null
    printf 'subjectAltName=IP:10.0.0.2\n' > server.ext
    openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -days 2 -extfile server.ext -out server.pem 2> /dev/null
fi
if named 8651 && ! named 'powercut serve'; then fathom powercut serve --listen=10.0.0.2:8651 --token-file=token; fi
if named :9000 || named ttfb; then
    export AWS_ACCESS_KEY_ID=reader AWS_SECRET_ACCESS_KEY=secret
    "$MOTO" -H 0.0.0.0 -p 9000 > /reader/moto.log 2>&1 &
    curl -X PUT http://127.0.0.1:9000/bench
    if named ttfb; then quietly s3 get --endpoint=http://127.0.0.1:9000 --bucket=bench --objects=4 --size=4k --duration=1; fi
fi
: > /reader/.log
# Open MPI takes no loopback interface unless it is told to; there is no other.
if named mpirun; then export OMPI_MCA_oob_tcp_if_include=lo; fi

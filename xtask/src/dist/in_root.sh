#!/bin/sh
# In a fresh root: every package is installed, gives a first figure, and is removed without a trace.
export HOME=/root FATHOM_ARCHIVE=/tmp/archive DEBIAN_FRONTEND=noninteractive
cd /tmp

files() {
    find / -xdev -path /proc -prune -o -path /dev -prune -o -path /tmp -prune -o -path /packages -prune -o -print |
        grep -vE '^/var/(log|cache)/|^/var/lib/dpkg|^/run/|__pycache__|^/in_root.sh$|^/var/lib/apt' | sort
}

# In under 30 seconds beside the test itself, which takes 1.
first_figure() {
    began=$(date +%s)
    "$@"
    fathom --version
    fathom run --name=first --filename=/tmp/first --size=16m --rw=randread --bs=4k --runtime=1 --time_based=1 >/tmp/report
    grep -q 'IOPS=' /tmp/report
    rm -f /tmp/first
    test $(($(date +%s) - began)) -lt 30
}

untouched() {
    files >/tmp/after
    diff /tmp/before /tmp/after
    echo "$1: installed, used, removed without a trace"
}

files >/tmp/before

first_figure dpkg -i /packages/fathom-storage_*.deb
dpkg -i /packages/fathom-fio_*.deb
fio --version
test "$(fio --name=x --ioengine=null --size=1m --output-format=terse | cut -d';' -f3)" = x
fathom fio --version
test -f /usr/share/bash-completion/completions/fathom
dpkg --purge fathom-fio fathom-storage
untouched deb

# A fio that is no alternative stays in its place.
printf '#!/bin/sh\necho theirs\n' >/usr/bin/fio
chmod 755 /usr/bin/fio
dpkg -i /packages/fathom-storage_*.deb /packages/fathom-fio_*.deb
test "$(fio)" = theirs
dpkg --purge fathom-fio fathom-storage
test "$(fio)" = theirs
rm /usr/bin/fio
untouched 'deb beside a fio'

unpack() {
    tar -xzf /packages/fathom-*-x86_64.tar.gz -C /opt
    PATH=$(echo /opt/fathom-*):$PATH
}
path=$PATH
first_figure unpack
PATH=$path
rm -r /opt/fathom-*
untouched tar.gz

if ls /packages/*.whl >/dev/null 2>&1; then
    wheel() {
        python3 -m venv /opt/venv
        PATH=/opt/venv/bin:$PATH
        pip install --quiet --no-index /packages/*.whl
    }
    first_figure wheel
    python3 -c 'import fathom; print(fathom.load("latest"))'
    PATH=$path
    rm -r /opt/venv
    untouched wheel
fi

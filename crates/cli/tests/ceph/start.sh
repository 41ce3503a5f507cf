# A Ceph cluster of one monitor and one OSD whose objects are in memory. $1: directory, $2: port.
set -eu
cd "$1"
mkdir mon osd
fsid=$(uuidgen)
cat > ceph.conf <<C
[global]
fsid = $fsid
mon host = [v2:127.0.0.1:$2]
mon initial members = a
auth cluster required = none
auth service required = none
auth client required = none
public addr = 127.0.0.1
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pg autoscale mode = off
mon allow pool size one = true
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 1073741824
run dir = $1
admin socket = $1/\$name.asok
log file = $1/\$name.log
pid file = $1/\$name.pid
keyring = $1/keyring
mon data = $1/mon
osd data = $1/osd
osd class load list = *
mon data avail crit = 1
C
monmaptool --create --fsid "$fsid" --addv a "[v2:127.0.0.1:$2]" monmap
ceph-authtool --create-keyring keyring --gen-key -n mon. --cap mon 'allow *'
ceph-authtool keyring --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *'
ceph-mon -c ceph.conf --mkfs -i a --monmap monmap --keyring keyring
ceph-mon -c ceph.conf -i a
osd=$(uuidgen)
timeout 30 ceph osd new "$osd"
ceph-osd -c ceph.conf -i 0 --mkfs --osd-uuid "$osd"
ceph-osd -c ceph.conf -i 0
timeout 30 ceph osd pool create pool 8
timeout 30 ceph osd pool application enable pool rbd
timeout 30 rbd create --size 64 pool/disk

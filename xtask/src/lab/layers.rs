//! `--layers` on the guest's kernel, which is older than that of most build machines, and on its stacks
//! of devices: each disk below another one has a table of its own.

use super::case::Case;

pub(super) const CASES: &[Case] = &[
    Case {
        name: "layers-nvme",
        proves: "layers: an NVMe disk, a queue of 8, a partition; they make up the latency",
        is_long: false,
        steps: "D=/dev/nvme0n1
timed
[ $(ios nvme0n1) = 300 ]; whole nvme0n1
timed --ioengine=io_uring --iodepth=8
[ $(ios nvme0n1) = 300 ]; whole nvme0n1
printf 'n\\np\\n1\\n\\n\\nw\\n' | fdisk $D
D=/dev/nvme0n1p1
timed
[ $(ios nvme0n1) = 300 ]; whole nvme0n1
dd if=/dev/zero of=/dev/nvme0n1 bs=1M count=1
blockdev --rereadpt /dev/nvme0n1",
    },
    Case {
        name: "layers-delay",
        proves: "layers: 50 ms in a SCSI device are in layer device to 5 %, and in no other",
        is_long: false,
        steps: "D=/dev/sda
P=/sys/bus/pseudo/drivers/scsi_debug
echo 50000000 >$P/ndelay
timed --number_ios=20
echo 0 >$P/ndelay
echo 1 >$P/delay
within 50000000 $(mean device sda) 52500000
for layer in submission request plug scheduler completion; do
  within 0 $(mean $layer sda) 2500000
done",
    },
    Case {
        name: "layers-btt",
        proves: "layers: waiting and device, their means and the p99, are those of blktrace and btt to 5 %",
        is_long: false,
        steps: "D=/dev/sda
P=/sys/bus/pseudo/drivers/scsi_debug
Q=/sys/block/sda/queue
requests=$(cat $Q/nr_requests)
echo mq-deadline >$Q/scheduler
echo 4 >$Q/nr_requests
echo 5000000 >$P/ndelay
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
mkdir -p /tmp/btt
cd /tmp/btt
blktrace -a write -d $D -o traced >/dev/null &
tracer=$!
for try in 1 2 3 4 5 6 7 8 9 10; do
  [ $(cat /sys/block/sda/trace/enable) = 0 ] || break
  sleep 1
done
# btt knows an I/O by its sector: no two jobs write the same one. Of data that is read, samples are read as
# well, which are not timed.
timed --rw=randwrite --numjobs=16 --number_ios=25 --group_reporting --size=512k --offset_increment=512k
kill -INT $tracer
wait $tracer || true
echo 0 >$P/ndelay
echo 1 >$P/delay
echo $requests >$Q/nr_requests
echo none >$Q/scheduler
blkparse -q -i traced -d traced.bin >/dev/null
btt -i traced.bin -l device >btt.txt
# A count, or the mean time in nanoseconds.
count() { awk -v row=$1 '$1 == row { print $5; exit }' btt.txt; }
seen() { awk -v row=$1 '$1 == row { printf \"%d\\n\", $3 * 1e9; exit }' btt.txt; }
[ $(ios sda) = 400 ]
[ $(count Q2C) = 400 ]
alike $(mean device sda) $(seen D2C)
alike $(($(mean request sda) + $(mean plug sda) + $(mean scheduler sda))) $(($(seen Q2C) - $(seen D2C)))
alike $(p99 device sda) $(sort -n -k 2 device_*.dat | awk '{ time[NR] = $2 } END { printf \"%d\\n\", time[int(NR * 0.99)] * 1e9 }')",
    },
    Case {
        name: "layers-dm",
        proves: "layers: dm-linear and dm-crypt with the disk below; 40 ms of dm-delay",
        is_long: false,
        steps: "make() { dmsetup create --noudevsync --noudevrules $1 --table \"0 65536 $2\"; dmsetup mknodes; }
D=/dev/mapper/over
make over 'linear /dev/nvme0n1 0'
timed
[ $(ios dm-0) = 300 ]; [ $(ios nvme0n1) = 300 ]; whole dm-0
within 1 $(mean device nvme0n1) $(mean device dm-0)
dmsetup remove --noudevsync over
make over \"crypt aes-xts-plain64 $(printf %064d 0) 0 /dev/nvme0n1 0\"
timed
[ $(ios dm-0) = 300 ]; [ $(ios nvme0n1) = 300 ]; whole dm-0
within 1 $(mean device nvme0n1) $(mean device dm-0)
# Writes are encrypted by other threads, which then submit them.
timed --rw=randwrite
[ $(ios dm-0) = 300 ]; whole dm-0
grep -q '^  dmcrypt_write.* nvme0n1 ' /tmp/out
dmsetup remove --noudevsync over
make over 'delay /dev/nvme0n1 0 40'
timed --number_ios=20
[ $(ios dm-0) = 20 ]; whole dm-0
# The kernel counts the delay in ticks of 4 ms.
within 40000000 $(mean device dm-0) 50000000
within 0 $(mean submission dm-0) 2000000
within 0 $(mean completion dm-0) 2000000
dmsetup remove --noudevsync over",
    },
    Case {
        name: "layers-raid1",
        proves: "layers: both legs of an md RAID-1 have all writes; reads those of one",
        is_long: false,
        steps: "mdadm --create /dev/md0 --run --force --level=1 --raid-devices=2 --assume-clean \\
  /dev/nvme0n1 /dev/nvme1n1
D=/dev/md0
timed --rw=randwrite
[ $(ios md0) = 300 ]; [ $(ios nvme0n1) = 300 ]; [ $(ios nvme1n1) = 300 ]; whole md0
timed
[ $(ios md0) = 300 ]; whole md0
first=$(ios nvme0n1)
second=$(ios nvme1n1)
[ $((${first:-0} + ${second:-0})) = 300 ]
mdadm --stop /dev/md0
mdadm --zero-superblock /dev/nvme0n1 /dev/nvme1n1",
    },
    Case {
        name: "layers-files",
        proves: "layers: files on ext4, XFS and btrfs, their flushes, a loop device",
        is_long: true,
        steps: "mkdir -p /mnt/files
for kind in ext4 xfs btrfs; do
  case $kind in ext4) force=-F ;; *) force=-f ;; esac
  mkfs.$kind -q $force /dev/nvme4n1
  mount -t $kind /dev/nvme4n1 /mnt/files
  D=/mnt/files/file
  timed --rw=randwrite --fsync=30
  # Each write of data by the job's thread or a thread of the file system, and no I/O lost.
  within 1 $(ios nvme4n1) 400
  fails grep -q 'were not timed' /tmp/out
  fails grep -q 'had no known start' /tmp/out
  timed
  [ $(ios nvme4n1) = 300 ]; whole nvme4n1
  if [ $kind = btrfs ]; then
    timed --rw=randwrite --fsync=30
    grep -q '^Layers of lab: flush on nvme4n1' /tmp/out
  else
    dd if=/dev/zero of=/mnt/files/image bs=1M count=16
    losetup /dev/loop0 /mnt/files/image
    D=/dev/loop0
    timed
    [ $(ios loop0) = 300 ]; whole loop0
    losetup -d /dev/loop0
  fi
  umount /mnt/files
done",
    },
];

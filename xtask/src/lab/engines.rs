//! Engines that speak to devices: each case is a few lines of shell in the guest, which fail if the
//! engine does not do what it says.

use super::case::Case;
use super::image::Device;
use super::layers;
use super::rdma;
use std::fmt::Write;

/// Modules of their devices.
pub const MODULES: &[&str] = &[
    "scsi_debug dev_size_mb=64 lbpu=1 lbpws=1 lbprz=1 unmap_max_desc=8",
    "sg",
    "mtdram total_size=4096 erase_size=128",
    "nandsim badblocks=5",
    "ext4",
    "nfit",
    "nd_pmem",
    "dax_pmem",
    "device_dax",
    "null_blk nr_devices=1 gb=1 zoned=1 zone_size=4 memory_backed=1",
    "dm_delay",
    "dm_crypt",
    "xts",
    "raid1",
    "loop",
    "xfs",
    "btrfs",
    // Checksums of file systems.
    "crc32c_generic",
];
/// Programs of this machine that cases call.
pub const TOOLS: &[&str] = &[
    "blkparse",
    "blktrace",
    "blkzone",
    "btt",
    "dmsetup",
    "mdadm",
    "mkfs.btrfs",
    "mkfs.ext4",
    "mkfs.xfs",
];
/// Devices that only the cases need.
pub const DEVICES: &[Device] = &[
    // nvme3: namespaces with plain blocks, and with protection information in separate metadata, in
    // the data, and with guards of 64 bits.
    Device {
        arguments: &[
            "-device",
            "nvme,id=formats,serial=formats",
            "-drive",
            "file=FILE,if=none,format=raw,discard=unmap,id=plain",
            "-device",
            "nvme-ns,bus=formats,nsid=1,drive=plain",
        ],
        image: "plain.img",
        bytes: 32 << 20,
    },
    Device {
        arguments: &[
            "-drive",
            "file=FILE,if=none,format=raw,id=separate",
            "-device",
            "nvme-ns,bus=formats,nsid=2,drive=separate,ms=8,mset=0,pi=1",
        ],
        image: "separate.img",
        bytes: 32 << 20,
    },
    Device {
        arguments: &[
            "-drive",
            "file=FILE,if=none,format=raw,id=extended",
            "-device",
            "nvme-ns,bus=formats,nsid=3,drive=extended,ms=8,mset=1,pi=1",
        ],
        image: "extended.img",
        bytes: 32 << 20,
    },
    Device {
        arguments: &[
            "-drive",
            "file=FILE,if=none,format=raw,id=guards",
            "-device",
            "nvme-ns,bus=formats,nsid=4,drive=guards,ms=16,mset=0,pi=1,pif=2",
        ],
        image: "guards.img",
        bytes: 32 << 20,
    },
    Device {
        arguments: &[
            "-drive",
            "file=FILE,if=none,format=raw,id=zones",
            "-device",
            "nvme-ns,bus=formats,nsid=5,drive=zones,zoned=true,zoned.zone_size=4M,zoned.max_open=8,\
             zoned.max_active=8",
        ],
        image: "zones.img",
        bytes: 32 << 20,
    },
    // Persistent memory: region0 and region1.
    Device {
        arguments: &[
            "-object",
            "memory-backend-file,id=memory0,share=on,mem-path=FILE,size=128M",
            "-device",
            "nvdimm,id=nvdimm0,memdev=memory0",
        ],
        image: "nvdimm0.img",
        bytes: 128 << 20,
    },
    Device {
        arguments: &[
            "-object",
            "memory-backend-file,id=memory1,share=on,mem-path=FILE,size=128M",
            "-device",
            "nvdimm,id=nvdimm1,memdev=memory1",
        ],
        image: "nvdimm1.img",
        bytes: 128 << 20,
    },
    // nvme4: large enough for each file system.
    Device {
        arguments: &[
            "-drive",
            "file=FILE,if=none,format=raw,id=files",
            "-device",
            "nvme,serial=files,drive=files",
        ],
        image: "files.img",
        bytes: 400 << 20,
    },
];

/// What each case begins with.
const PROLOGUE: &str = "
fathom_() { fathom run --output=/tmp/out --name=lab --allow-destroy=\"$D\" --filename=\"$D\" \"$@\"; }
run() { fathom_ \"$@\" || { cat /tmp/out; return 1; }; }
fails() { if \"$@\"; then echo \"did not fail: $*\"; return 1; fi; }
refused() { fails fathom_ \"$@\"; }
timed() { run --layers --direct=1 --ioengine=psync --rw=randread --bs=4k --size=8m --number_ios=300 \"$@\"; }
# The tables of a disk, each on a line.
tables() { tr '\\n' ' ' </tmp/out | tr -s ' ' | sed 's/Layers of /\\n&/g' | grep \"^Layers of lab: [a-z]* on $1[ ,]\"; }
# I/Os that were timed on a disk.
ios() { tables $1 | grep -o '[0-9]* I/Os timed' | head -n 1 | cut -d ' ' -f 1; }
# A column of a layer of a disk, in nanoseconds; 0 if it has none.
column() {
  tables $3 | head -n 1 | sed 's/Mean .*//' | awk -v column=$1 -v layer=$2 '{
    for (at = 1; at < NF; at++) if ($at == layer) {
      unit = $(at + 2 * column)
      time = $(at + 2 * column - 1) * (unit == \"s\" ? 1e9 : unit == \"ms\" ? 1e6 : unit == \"µs\" ? 1e3 : 1)
      break
    }
  } END { printf \"%d\\n\", time }'
}
mean() { column 1 $1 $2; }
p99() { column 3 $1 $2; }
# Soft RoCE at 10.7.7.1.
soft_roce() {
  ! rdma link | grep -q rxe0 || return 0
  ip link set lo up
  ip link add dummy0 type dummy || true
  ip addr add 10.7.7.1/24 dev dummy0
  ip link set dummy0 up
  rdma link add rxe0 type rxe netdev dummy0
}
within() { [ $1 -le $2 ] && [ $2 -le $3 ]; }
# Two numbers differ by 5 % at most.
alike() { within $(($2 * 95 / 100)) $1 $(($2 * 105 / 100)) || { echo \"$1 is not $2\"; return 1; }; }
# The layers of a disk make up the latency of the job, to 3 %.
whole() {
  tables $1 | grep 'Mean latency' | head -n 1 | sed 's/Mean latency.*//' | awk '{
    for (at = 2; at <= NF; at++) if ($at == \"%\") sum += $(at - 1)
  } END { exit !(sum >= 97 && sum <= 103) }'
}
";

const CASES: &[Case] = &[
    Case {
        name: "io_uring_cmd-queue",
        proves: "an NVMe namespace: a queue of 32 with each form of buffer, verified; flush, FUA",
        is_long: false,
        steps: "D=/dev/ng3n1
run --ioengine=io_uring_cmd --rw=randwrite --bs=4k --size=4m --iodepth=32 --verify=crc32c
run --ioengine=io_uring_cmd --rw=randrw --bs=8k --size=1m --iodepth=8 --fixedbufs --registerfiles
run --ioengine=io_uring_cmd --rw=write --bs=8k --size=1m --nonvectored=0 --buffer_pattern=0x5a \\
  --fsync=8 --writefua=1
tr '\\0' '\\132' </dev/zero | head -c 1048576 >/tmp/pattern
dd if=/dev/nvme3n1 of=/tmp/read bs=1M count=1 iflag=direct
cmp /tmp/read /tmp/pattern
D=/dev/nvme3n1
refused --ioengine=io_uring_cmd --rw=read --bs=4k --size=4k
D=/dev/ng3n1
refused --ioengine=psync --rw=read --bs=4k --size=4k
refused --ioengine=io_uring_cmd --rw=read --bs=1000 --size=4k",
    },
    Case {
        name: "io_uring_cmd-trim",
        proves: "trims of one range and of eight in a command; write_mode zeroes, verify, uncor",
        is_long: false,
        steps: "D=/dev/ng3n1
fill() { run --ioengine=io_uring_cmd --rw=write --bs=64k --size=1m --buffer_pattern=0x77; }
empty() { dd if=/dev/nvme3n1 of=/tmp/read bs=1M count=1 iflag=direct; cmp /tmp/read /tmp/zeros; }
head -c 1048576 /dev/zero >/tmp/zeros
fill; fails empty; run --ioengine=io_uring_cmd --rw=trim --bs=4k --size=1m --iodepth=4; empty
fill; run --ioengine=io_uring_cmd --rw=randtrim --bs=4k --size=1m --iodepth=2 --num_range=8; empty
grep -q 'rwts: total=0,0,256' /tmp/out
fill; run --ioengine=io_uring_cmd --rw=write --bs=4k --size=1m --write_mode=zeroes --deac=1; empty
fill; run --ioengine=io_uring_cmd --rw=write --bs=4k --size=1m --write_mode=verify; fails empty
refused --ioengine=io_uring_cmd --rw=write --bs=4k --size=64k --write_mode=uncor 2>/tmp/refused
grep -q 'NVMe status 0x001' /tmp/refused
refused --ioengine=io_uring_cmd --rw=read --bs=4k --size=64k --num_range=2
refused --ioengine=io_uring_cmd --rw=write --bs=4k --size=64k --dataplacement=fdp 2>/tmp/refused
grep -q 'no flexible data placement' /tmp/refused",
    },
    Case {
        name: "io_uring_cmd-compare",
        proves: "verify_mode=compare: the device finds the block that was changed",
        is_long: false,
        steps: "D=/dev/ng3n1
pattern() { run --ioengine=io_uring_cmd --bs=4k --size=1m --iodepth=8 --verify=pattern \\
  --verify_pattern=0xfa7403%o --verify_mode=compare \"$@\"; }
pattern --rw=randwrite
grep -q 'rwts: total=256,256,0' /tmp/out
pattern --rw=read --fixedbufs
printf x | dd of=/dev/nvme3n1 bs=1 seek=$((77 * 4096 + 5)) conv=fsync
fails pattern --rw=read >/tmp/refused 2>&1
cat /tmp/refused /tmp/out | tr -s ' \\n' ' ' | grep -q 'NVMe status 0x285 (compare failed)'
# Only that block differs.
fails pattern --rw=read --continue_on_error=all >/tmp/refused 2>&1
cat /tmp/refused /tmp/out | tr -s ' \\n' ' ' | grep -q 'refused a command: NVMe status 0x285'
refused --ioengine=io_uring_cmd --rw=write --bs=4k --size=4k --verify=crc32c --verify_mode=compare \\
  2>/tmp/refused
grep -q 'give verify=pattern' /tmp/refused
D=/dev/ng3n2
pattern --rw=write --pi_act=0 --md_per_io_size=64
fails pattern --rw=write 2>/tmp/refused
grep -q 'give pi_act=0' /tmp/refused",
    },
    Case {
        name: "io_uring_cmd-pi",
        proves: "protection information in separate metadata: by the device and by the host",
        is_long: false,
        steps: "D=/dev/ng3n2
cmd() { run --ioengine=io_uring_cmd --bs=4k --size=1m --iodepth=8 \"$@\"; }
cmd --rw=randwrite --verify=crc32c --pi_act=1 --pi_chk=GUARD,REFTAG
cmd --rw=randwrite --verify=crc32c --pi_act=0 --md_per_io_size=64 --pi_chk=GUARD,REFTAG,APPTAG
cmd --rw=read --pi_act=0 --md_per_io_size=64 --pi_chk=GUARD,REFTAG,APPTAG
fails cmd --rw=read --pi_act=0 --md_per_io_size=64 --pi_chk=APPTAG --apptag=0x4321 2>/tmp/refused
grep -q 'application tag check failed' /tmp/refused
fails cmd --rw=read --pi_act=0 2>/tmp/refused
grep -q 'give md_per_io_size=64' /tmp/refused",
    },
    Case {
        name: "io_uring_cmd-extended",
        proves: "protection information in the data, and guards of 64 bits",
        is_long: false,
        steps: "D=/dev/ng3n3
run --ioengine=io_uring_cmd --rw=randwrite --bs=4k --size=1m --verify=crc32c --pi_chk=GUARD
run --ioengine=io_uring_cmd --rw=write --bs=4160 --size=1040k --iodepth=4 --pi_act=0
run --ioengine=io_uring_cmd --rw=read --bs=4160 --size=1040k --iodepth=4 --pi_act=0 \\
  --pi_chk=GUARD,REFTAG,APPTAG
refused --ioengine=io_uring_cmd --rw=read --bs=4k --size=1m --pi_act=0 2>/tmp/refused
grep -q 'has blocks of 520 bytes' /tmp/refused
D=/dev/ng3n4
run --ioengine=io_uring_cmd --rw=write --bs=4k --size=1m --iodepth=4 --pi_act=0 --md_per_io_size=128
run --ioengine=io_uring_cmd --rw=read --bs=4k --size=1m --iodepth=4 --pi_act=0 --md_per_io_size=128 \\
  --pi_chk=GUARD,REFTAG,APPTAG",
    },
    Case {
        name: "mtd-nor",
        proves: "flash of bytes (mtdram): verified writes; a trim erases to ones",
        is_long: false,
        steps: "D=/dev/mtd0
run --ioengine=mtd --rw=randwrite --bs=4k --size=1m --verify=crc32c
run --ioengine=mtd --rw=trim --bs=128k --size=1m
tr '\\0' '\\377' </dev/zero | head -c 1048576 >/tmp/ones
dd if=/dev/mtd0 of=/tmp/read bs=1M count=1
cmp /tmp/read /tmp/ones
refused --ioengine=mtd --rw=trim --bs=4k --size=64k",
    },
    Case {
        name: "mtd-nand",
        proves: "flash of pages (nandsim): erased before it is written; bad blocks are skipped",
        is_long: false,
        steps: "D=/dev/mtd1
erase=$(cat /sys/class/mtd/mtd1/erasesize)
run --ioengine=mtd --rw=trimwrite --bs=$erase --size=$((erase * 4))
run --ioengine=mtd --rw=read --bs=$erase --size=$((erase * 4))
run --ioengine=mtd --rw=trimwrite --bs=$erase --size=$((erase * 8)) --skip_bad=1
refused --ioengine=mtd --rw=trimwrite --bs=$erase --size=$((erase * 8))",
    },
    Case {
        name: "dev-dax",
        proves: "a DAX device: verified writes to mapped persistent memory",
        is_long: false,
        steps: "N=/sys/bus/nd/devices
echo namespace1.0 >/sys/bus/nd/drivers/nd_pmem/unbind
dax=$(cat $N/region1/dax_seed)
cat /proc/sys/kernel/random/uuid >$N/$dax/uuid
echo ram >$N/$dax/mode
echo namespace1.0 >$N/$dax/namespace
echo $dax >/sys/bus/nd/drivers/dax_pmem/bind
D=/dev/$(ls /sys/bus/dax/devices | head -n 1)
run --ioengine=dev-dax --rw=randwrite --bs=4k --size=8m --verify=crc32c
run --ioengine=dev-dax --rw=randrw --bs=64k --size=3m --offset=1m --fsync=8
run --ioengine=dev-dax --rw=read --bs=2m
refused --ioengine=io_uring_cmd --rw=read --bs=4k --size=4k",
    },
    Case {
        name: "libpmem",
        proves: "a file on ext4 with DAX: mapped synchronously; a file elsewhere is said to be none",
        is_long: false,
        steps: "N=/sys/bus/nd/devices
echo namespace0.0 >/sys/bus/nd/drivers/nd_pmem/unbind
pfn=$(cat $N/region0/pfn_seed)
cat /proc/sys/kernel/random/uuid >$N/$pfn/uuid
echo ram >$N/$pfn/mode
echo namespace0.0 >$N/$pfn/namespace
echo $pfn >/sys/bus/nd/drivers/nd_pmem/bind
mkfs.ext4 -q -b 4096 /dev/pmem0
mount -t ext4 -o dax /dev/pmem0 /mnt
D=/mnt/file
run --ioengine=libpmem --rw=randwrite --bs=4k --size=8m --verify=crc32c 2>/tmp/said
fails grep -q 'not on persistent memory' /tmp/said /tmp/out
run --ioengine=mmap --rw=randwrite --bs=4k --size=1m --verify=crc32c
D=/tmp/file
run --ioengine=libpmem --rw=randwrite --bs=4k --size=1m --verify=crc32c 2>/tmp/said
cat /tmp/said /tmp/out | tr '\\n' ' ' | grep -q 'not on persistent memory'",
    },
    Case {
        name: "zoned-null_blk",
        proves: "zonemode=zbd on a zoned block device: writes at pointers, resets, verified",
        is_long: false,
        steps: "D=/dev/nullb0
run --ioengine=io_uring --direct=1 --zonemode=zbd --rw=randwrite --bs=64k --size=32m --iodepth=4 \\
  --verify=crc32c --max_open_zones=4
run --ioengine=psync --direct=1 --zonemode=zbd --rw=write --bs=128k --size=16m --loops=2
grep -q 'zone resets' /tmp/out
refused --ioengine=psync --direct=0 --zonemode=zbd --rw=write --bs=128k --size=4m 2>/tmp/refused
grep -q 'Using direct I/O is mandatory for writing to ZBD drives' /tmp/refused
refused --zonemode=zbd --zonesize=8m --rw=read --size=8m 2>/tmp/refused
grep -q 'job parameter zonesize 8388608 does not match disk zone size 4194304' /tmp/refused
# A reader that comes first does not make the resets of a writer fail: one after each 2 MiB of 8 MiB.
blkzone reset -o 8192 -c 1 $D
run --ioengine=psync --direct=1 --zonemode=zbd --bs=256k --size=4m --loops=2 --rw=read \\
  --name=writes --filename=$D --ioengine=psync --direct=1 --zonemode=zbd --bs=256k --size=4m \\
  --loops=2 --rw=write --offset=4m --zone_reset_frequency=1 --zone_reset_threshold=.5
grep -q ' 3 zone resets' /tmp/out
run --ioengine=psync --direct=1 --zonemode=zbd --rw=trim --bs=4m --size=32m
# The regions are cut to whole zones, wherever they begin.
run --ioengine=psync --direct=1 --zonemode=zbd --rw=write --bs=1m --offset=512 --size=10m
# Closed zones are not open ones.
for zone in 0 2; do
  run --ioengine=psync --direct=1 --rw=write --bs=4k --size=64k --offset=$((zone * 4))m
  blkzone close -o $((zone * 8192)) -c 1 $D
done
run --ioengine=psync --direct=1 --zonemode=zbd --rw=randwrite --bs=8k --size=16m --max_open_zones=1",
    },
    Case {
        name: "io_uring_cmd-zoned",
        proves: "a zoned namespace (ZNS): zonemode=zbd through commands, resets included",
        is_long: false,
        steps: "D=/dev/ng3n5
run --ioengine=io_uring_cmd --zonemode=zbd --rw=randwrite --bs=64k --size=16m --iodepth=4 \\
  --verify=crc32c --max_open_zones=4
run --ioengine=io_uring_cmd --zonemode=zbd --rw=write --bs=128k --size=16m --loops=2
grep -q 'zone resets' /tmp/out
run --ioengine=io_uring_cmd --zonemode=zbd --rw=trim --bs=4m --size=16m",
    },
    Case {
        name: "io_uring_cmd-append",
        proves: "zone_append: data lies where completions say; another writer's append is found",
        is_long: false,
        steps: "D=/dev/ng3n5
append() { run --ioengine=io_uring_cmd --zonemode=zbd --zone_append=1 \"$@\"; }
append --rw=randwrite --bs=64k --size=16m --iodepth=4 --verify=crc32c --max_open_zones=4
append --rw=write --bs=128k --size=16m --loops=2 --buffer_pattern=0x5a --write_iolog=/tmp/iolog
[ $(grep -c ' write ' /tmp/iolog) = 256 ]
tr '\\0' '\\132' </dev/zero | head -c 131072 >/tmp/pattern
dd if=/dev/nvme3n5 of=/tmp/read bs=131072 skip=127 count=1 iflag=direct
cmp /tmp/read /tmp/pattern
append --rw=trim --bs=4m --size=16m
# While one waits, another appends to the same zone.
(fathom run --name=slow --allow-destroy=$D --filename=$D --ioengine=io_uring_cmd --zonemode=zbd \\
  --zone_append=1 --rw=write --bs=64k --size=4m --number_ios=16 --thinktime=500ms >/tmp/slow 2>&1 \\
  && echo passed >>/tmp/slow) &
sleep 4
# Which finds the other as well if both append at once.
append --rw=write --bs=64k --size=4m --number_ios=1 >/dev/null || true
wait
cat /tmp/slow
fails grep -q passed /tmp/slow
tr -s ' \\n' ' ' </tmp/slow | grep -q 'another program writes to it'
refused --ioengine=io_uring_cmd --zone_append=1 --rw=write --bs=4k --size=4k 2>/tmp/refused
grep -q 'set zonemode=zbd' /tmp/refused",
    },
    Case {
        name: "sg-queue",
        proves: "an sg device: writes in a queue of 32, read back and verified, FUA, hipri",
        is_long: false,
        steps: "D=/dev/sg0
run --ioengine=sg --rw=randwrite --bs=4k --size=4m --iodepth=32 --verify=crc32c --hipri=1
run --ioengine=sg --rw=randrw --bs=512 --size=1m --iodepth=4 --readfua=1 --writefua=1
grep -q 'depth.*4' /tmp/out
run --ioengine=sg --rw=write --bs=64k --size=1m --fsync=4",
    },
    Case {
        name: "sg-block",
        proves: "a SCSI block device: the data lies where offsets say; a trim empties it",
        is_long: false,
        steps: "D=/dev/sda
run --ioengine=sg --rw=write --bs=4k --size=1m --offset=1m --buffer_pattern=0xa5
tr '\\0' '\\245' </dev/zero | head -c 1048576 >/tmp/pattern
dd if=/dev/sda of=/tmp/read bs=1M skip=1 count=1 iflag=direct
cmp /tmp/read /tmp/pattern
run --ioengine=sg --rw=trim --bs=64k --size=1m --offset=1m
dd if=/dev/sda of=/tmp/read bs=1M skip=1 count=1 iflag=direct
head -c 1048576 /dev/zero >/tmp/zeros
cmp /tmp/read /tmp/zeros",
    },
    Case {
        name: "sg-modes",
        proves: "sg_write_mode: write_same, without data, verify with and without comparison",
        is_long: false,
        steps: "D=/dev/sg0
same() { run --ioengine=sg --rw=write --bs=8k --size=256k --buffer_pattern=\"$2\" --sg_write_mode=$1; }
differs() { fails same $1 $2 >/tmp/refused 2>&1; grep -q 'miscompare' /tmp/refused; }
same write 0x5a
same verify_bytchk_01 0x5a
same verify_bytchk_11 0x5a
same verify_bytchk_00 0x11
differs verify_bytchk_01 0x5b
differs verify_bytchk_11 0x5b
same write_same 0x66
same verify_bytchk_01 0x66
same write_same_ndob 0x77
same verify_bytchk_01 0x00
fails same write_stream 0x11 >/tmp/refused 2>&1
grep -q 'illegal request' /tmp/refused",
    },
    Case {
        name: "sg-refused",
        proves: "reads and writes of an sg device, and sg on a file, are refused",
        is_long: false,
        steps: "D=/dev/sg0
refused --ioengine=psync --rw=read --bs=4k --size=4k
D=/tmp/file
refused --ioengine=sg --rw=read --bs=4k --size=4k
D=/dev/sg0
refused --ioengine=sg --rw=read --bs=1000 --size=4k",
    },
    // The last, for it changes the SCSI disk.
    Case {
        name: "libzbc",
        proves: "a host-managed SCSI disk: zonemode=zbd through its sg and its block device",
        is_long: false,
        steps: "rmmod scsi_debug
insmod /modules/scsi_debug.ko zbc=managed zone_size_mb=4 dev_size_mb=64
sleep 1
D=/dev/$(ls /sys/class/scsi_generic | head -n 1)
zbd() { run --zonemode=zbd --ioengine=libzbc \"$@\"; }
zbd --rw=randwrite --bs=64k --size=16m --iodepth=4 --verify=crc32c --max_open_zones=4
zbd --rw=write --bs=128k --size=16m --loops=2
grep -q 'zone resets' /tmp/out
D=/dev/sda
zbd --rw=write --bs=64k --size=16m --verify=crc32c
zbd --rw=trim --bs=4m --size=16m",
    },
];

/// The cases of engines come last, for the last of them changes the SCSI disk.
fn all() -> impl Iterator<Item = &'static Case> {
    layers::CASES.iter().chain(rdma::CASES).chain(CASES)
}

/// The cases to run.
pub fn chosen(quick: bool, only: Option<&str>) -> Vec<&'static Case> {
    let wanted =
        |case: &&Case| !(quick && case.is_long) && only.is_none_or(|word| case.name.contains(word));
    all().filter(wanted).collect()
}

/// The script of the cases, of which a guest runs its share. Behind its name each prints its seconds and
/// `passed`, or the commands up to the one that failed.
pub fn script(cases: &[&Case]) -> String {
    let mut script = "export FATHOM_ARCHIVE=off\n".to_owned();
    for (number, case) in cases.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(
            script,
            "if [ $(({number} % shares)) = $share ]; then\n\
             cat >/tmp/case <<'END-OF-CASE'\n{PROLOGUE}{}\nEND-OF-CASE\n\
             begun=$(cut -d. -f1 /proc/uptime)\n\
             sh -ex /tmp/case >/tmp/log 2>&1 && verdict=passed || verdict=failed\n\
             echo '== {}'\necho $(($(cut -d. -f1 /proc/uptime) - begun)) $verdict\n\
             [ $verdict = passed ] || {{ tail -n 40 /tmp/log; dmesg | tail -n 5; }}\n\
             fi\n",
            case.steps, case.name,
        );
    }
    script
}

/// Prints the table; returns how many failed.
pub fn check(cases: &[&Case], parts: &[(String, String)]) -> u32 {
    let mut failed = 0;
    for case in cases {
        let said = parts.iter().find(|(name, _)| name == case.name);
        let said = said.map_or("- failed\nthe guest said nothing of it", |(_, text)| text);
        let (first, log) = said.split_once('\n').unwrap_or((said, ""));
        let (seconds, verdict) = first.split_once(' ').unwrap_or(("-", first));
        println!("{:<28} {verdict} {seconds:>4} s  {}", case.name, case.proves);
        if verdict != "passed" {
            log.lines().for_each(|line| println!("    {line}"));
            failed += 1;
        }
    }
    failed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_that_failed_or_said_nothing_counts() {
        let case = |name| Case { name, proves: "", is_long: false, steps: "" };
        let (good, bad, silent) = (case("good"), case("bad"), case("silent"));
        let parts = [("good", "3 passed\n"), ("bad", "1 failed\nwhy\n")];
        let parts = parts.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(check(&[&good], &parts), 0);
        assert_eq!(check(&[&good, &bad, &silent], &parts), 2);
    }

    #[test]
    fn names_are_unique_and_steps_run_one_by_one() {
        let mut names: Vec<_> = all().map(|case| case.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().count());
        let script = script(&chosen(false, None));
        assert_eq!(script.matches("\nEND-OF-CASE\n").count(), all().count());
    }
}

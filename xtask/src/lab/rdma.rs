//! RDMA without a network card: soft RoCE on a dummy interface, both sides in the guest.

use super::case::Case;

/// Modules of soft RoCE and of the connection manager.
pub const MODULES: &[&str] = &["dummy", "crc32_generic", "rdma_rxe", "rdma_ucm"];
/// Programs of this machine that the cases call.
pub const TOOLS: &[&str] = &["rdma"];
/// Libraries that fathom opens, the provider of soft RoCE, which they open, and job files of fio's.
pub const FILES: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu/librdmacm.so.1",
    "/usr/lib/x86_64-linux-gnu/libibverbs.so.1",
    "/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so",
    "/etc/libibverbs.d/rxe.driver",
    "/usr/share/doc/fio/examples/rdmaio-client.fio",
    "/usr/share/doc/fio/examples/rdmaio-server.fio",
];

pub const CASES: &[Case] = &[
    Case {
        name: "rdma-verbs",
        proves: "write, read, send, recv over soft RoCE: counts and data of both sides",
        is_long: false,
        steps: "soft_roce
# Both sides in one process: VERB, options of the listening side, options of the other.
pair() {
  fathom run --output=/tmp/out --ioengine=rdma --port=18515 --bs=16k --size=4m --name=listens $2 \\
    --name=connects --ioengine=rdma --port=18515 --bs=16k --size=4m --hostname=10.7.7.1 --verb=$1 $3
}
counts() { [ $(grep -c 'rwts: total=256,0,0' /tmp/out) = 1 ] && grep -q 'rwts: total=0,256,0' /tmp/out; }
checked='--rw=read --verify=pattern --verify_pattern=0xa5 --iodepth=8'
filled='--rw=write --buffer_pattern=0xa5 --iodepth=4'
for verb in write send; do
  pair $verb \"$checked\" \"$filled\" || { cat /tmp/out; exit 1; }
  counts
  fails pair $verb \"$checked\" \"$filled --buffer_pattern=0xa6\"
done
for verb in read recv; do
  pair $verb \"$filled\" \"$checked\" || { cat /tmp/out; exit 1; }
  counts
  fails pair $verb \"$filled --buffer_pattern=0xa6\" \"$checked\"
done
# Messages arrive once and in order: their headers hold their offsets.
pair send '--rw=read --verify=crc32c --iodepth=8' '--rw=write --verify=crc32c --do_verify=0 --iodepth=16'
counts
# One side has more to move than the other.
pair send '--rw=read' '--rw=write --size=1m'
grep -q 'READ:.*io=1024KiB' /tmp/out
grep -q 'WRITE:.*io=1024KiB' /tmp/out
pair send '--rw=read --size=1m' '--rw=write'
grep -q 'READ:.*io=1024KiB' /tmp/out
pair write '--rw=read' '--rw=write --size=1m'
grep -q 'READ:.*io=1024KiB' /tmp/out
# Both end with the time.
pair write '--rw=read --time_based --runtime=2' '--rw=write --time_based --runtime=2'
pair recv '--rw=write --time_based --runtime=2' '--rw=read --time_based --runtime=2'
fails pair send '--rw=read' '--rw=write --bs=4k' >/tmp/refused 2>&1
grep -q 'give both sides the same bs' /tmp/refused
fails fathom run --name=alone --ioengine=rdma --port=18516 --hostname=10.7.7.1 --rw=write --bs=4k \\
  --size=4k >/tmp/refused 2>&1
grep -q 'nobody listens there' /tmp/refused",
    },
    Case {
        name: "rdma-ends",
        proves: "a side ends when it is interrupted, and when the process of the other is killed",
        is_long: false,
        steps: "soft_roce
listener() {
  timeout -s KILL 60 fathom run --output=/tmp/listener --name=listens --ioengine=rdma --port=18518 \\
    --rw=read --bs=16k --size=1g --iodepth=4
}
listening() { for second in 1 2 3 4 5 6 7 8 9 10; do
  rdma resource show cm_id | grep -q LISTEN && return; sleep 1; done; return 1; }
begun=$(cut -d. -f1 /proc/uptime)
timeout -s INT 4 fathom run --output=/tmp/out --name=alone --ioengine=rdma --port=18516 --rw=read \\
  --bs=4k --size=4k || true
within 0 $(($(cut -d. -f1 /proc/uptime) - begun)) 15
for verb in send write; do
  listener >/tmp/said 2>&1 &
  listener=$!
  listening
  fathom run --output=/tmp/client --name=connects --ioengine=rdma --port=18518 --hostname=10.7.7.1 \\
    --verb=$verb --rw=write --bs=16k --size=1g --iodepth=4 &
  client=$!
  sleep 4
  kill -9 $client
  wait $listener || [ $? != 137 ]
  grep -q 'READ:.*io=' /tmp/listener
  cat /tmp/said /tmp/listener | grep 'READ:\\|other side'
done",
    },
    Case {
        name: "rdma-examples",
        proves: "fio's example job files of both sides, in two processes, with each verb",
        is_long: true,
        steps: "soft_roce
examples=/usr/share/doc/fio/examples
for verb in write read send recv; do
  for side in client server; do
    sed -e 's/\\[port\\]/18517/' -e 's/\\[hostname\\]/10.7.7.1/' -e \"s,^verb=.*,verb=$verb,\" \\
      -e 's/100g/16m/' $examples/rdmaio-$side.fio >/tmp/$side.fio
  done
  fathom run --output=/tmp/server /tmp/server.fio &
  server=$!
  for second in 1 2 3 4 5 6 7 8 9 10; do
    rdma resource show cm_id | grep -q LISTEN && break
    sleep 1
  done
  fathom run --output=/tmp/client /tmp/client.fio
  wait $server
  grep -q 'rwts: total=16,0,0' /tmp/server
  grep -q 'rwts: total=0,16,0' /tmp/client
done",
    },
];

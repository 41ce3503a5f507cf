# Runs in the guest, as root, in busybox's shell.
tell() {
    echo "== $1"
    fathom inspect --json "/dev/$2"
}
tell nvme0n1 nvme0n1
tell sda sda
tell "worn before" nvme2n1
echo READY-TO-WEAR >/dev/console
n=0
until fathom inspect --json /dev/nvme2n1 | grep -q 'below its threshold' || [ $n -ge 30 ]; do
    n=$((n + 1))
    sleep 1
done
tell "worn after" nvme2n1

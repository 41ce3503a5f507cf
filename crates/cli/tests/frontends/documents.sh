# Runs shell lines of a document as they are printed, in a root directory of their own that has the files,
# devices and servers that they name. Called by documents.rs as root:
#   sh documents.sh PROGRAM REPOSITORY FILESYSTEM NVME SDA LINES
# in namespaces of its own (unshare --mount --net --pid --fork --kill-child), which end with it.
set -eu
program=$1 repository=$2 filesystem=$3 nvme=$4 sda=$5 lines=$6
root=$filesystem.root

# Filesystems that other tests have mounted would stay mounted for as long as these namespaces. Those below
# the disks of this one are in use.
backing() { cat "/sys/block/${1##*/}/loop/backing_file"; }
own="${lines%/*} $(dirname "$(backing "$nvme")") $(dirname "$(backing "$sda")")"
awk -v own="$own" '
    BEGIN { count = split(own, places, " ") }
    $2 ~ "/fathom-" {
        for (place = 1; place <= count; place++) if (index($2, places[place]) == 1) next
        print $2
    }' /proc/mounts | xargs --no-run-if-empty umount -l -q || true

# A root with the system's directories to read from, and empty ones for whatever a reader writes to.
mkdir "$root"
mount -t tmpfs none "$root"
for entry in /*; do
    case $entry in
        /proc | /sys | /dev | /tmp | /data | /mnt | /run) ;;
        *)
            if [ -L "$entry" ]; then
                cp -P "$entry" "$root$entry"
            elif [ -d "$entry" ]; then
                mkdir "$root$entry"
                mount --rbind "$entry" "$root$entry"
                # What a document names by mistake is not changed.
                mount -o remount,bind,ro "$root$entry"
            fi
            ;;
    esac
done
mkdir -p "$root/reader" "$root/tmp" "$root/run" "$root/data" "$root/mnt/old" "$root/dev" "$root/proc" "$root/sys"
chmod 1777 "$root/tmp"
mount -t proc none "$root/proc"
mount --rbind /sys "$root/sys"
mkdir "$filesystem/reader" "$filesystem/data" "$filesystem/old"
mount --bind "$filesystem/reader" "$root/reader"
mount --bind "$filesystem/data" "$root/data"
mount --bind "$filesystem/old" "$root/mnt/old"
# The machine's devices, and three more names for disks in memory.
mkdir "$root/run/upper" "$root/run/work"
mount -t overlay -o "lowerdir=/dev,upperdir=$root/run/upper,workdir=$root/run/work" none "$root/dev"
for place in pts shm; do mount --rbind "/dev/$place" "$root/dev/$place"; done
rm -f "$root/dev/nvme0n1" "$root/dev/sda" "$root/dev/zram0"
cp -a "$nvme" "$root/dev/nvme0n1"
cp -a "$nvme" "$root/dev/zram0"
cp -a "$sda" "$root/dev/sda"

# Every address that is named is this machine.
ip link set lo up
ip address add 10.0.0.2/32 dev lo
{
    cat /etc/hosts
    echo "127.0.0.1 node1 node2 node3 node4"
} > "$root/run/hosts"
mount --bind "$root/run/hosts" "$root/etc/hosts"

# fathom as on a reader's path, but interrupted after a second, as Ctrl-C would.
mkdir "$root/run/bin"
cp "$(dirname "$0")/documents_fathom.sh" "$root/run/bin/fathom"
chmod +x "$root/run/bin/fathom"
cp "$(dirname "$0")/documents_fixtures.sh" "$lines" "$root/run/"
cd "$root"
code=0
env -i PATH="/run/bin:$PATH" HOME=/reader TERM=dumb LANG=C.UTF-8 USER=root PROGRAM="$program" REPOSITORY="$repository" \
    LINES_FILE="/run/$(basename "$lines")" MOTO="${MOTO:-}" \
    chroot "$root" bash -euc 'cd /reader; . /run/documents_fixtures.sh; . "$LINES_FILE"' || code=$?
# A device that a reader made, such as over disk.img, has no end of its own.
for image in "$filesystem"/reader/*.img; do
    losetup --noheadings --output NAME --associated "$image" 2> /dev/null | xargs --no-run-if-empty losetup --detach
done
exit "$code"

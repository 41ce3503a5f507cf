#!/bin/sh
# Prints what the tests need of this machine's /proc, /sys and /dev, one line a file:
#   PATH = CONTENT   (newline as \n, other bytes that do not print as \xHH)
#   PATH -> TARGET   (a symbolic link)
# Run it as root on a machine whose stack is worth a test, and save the output as NAME.tree.
# It needs sh, sed, od and readlink only.

content() {
    od -An -v -tx1 "$1" 2>/dev/null | tr -s ' \n' '\n\n' | sed '/^$/d' | while read -r hex; do
        case $hex in
        0a) printf '%s' '\n' ;;
        5c) printf '%s' '\\' ;;
        2[0-9a-f] | [3-6][0-9a-f] | 7[0-9a-e]) printf "\\$(printf %o 0x"$hex")" ;;
        *) printf '%s' "\\x$hex" ;;
        esac
    done
}
file() { [ -f "$1" ] && [ -r "$1" ] && printf '%s = %s\n' "$1" "$(content "$1")"; }
link() { [ -L "$1" ] && printf '%s -> %s\n' "$1" "$(readlink "$1")"; }

for name in /proc/self/mountinfo /proc/swaps /sys/devices/system/cpu/online; do file $name; done
for name in hostname osrelease arch; do file /proc/sys/kernel/$name; done
for link in /sys/class/block/* /sys/dev/block/*; do link "$link"; done
for link in /sys/class/block/*; do
    case $link in */ram* | */loop[1-9]) continue ;; esac
    device=$(readlink -f "$link")
    name=${link##*/}
    for entry in dev size ro partition alignment_offset stat serial dm/name dm/uuid md/level \
        loop/backing_file; do
        file "$device/$entry"
    done
    for entry in scheduler rotational logical_block_size physical_block_size minimum_io_size \
        optimal_io_size nr_requests read_ahead_kb max_sectors_kb write_cache fua discard_max_bytes \
        discard_granularity zoned dma_alignment; do
        file "$device/queue/$entry"
    done
    for entry in "$device"/holders/* "$device"/slaves/* "$device/device"; do link "$entry"; done
    for entry in vendor model rev serial firmware_rev transport vpd_pg80; do
        [ -d "$device/device" ] && file "$(readlink -f "$device/device")/$entry"
    done
    above=$device
    while [ "$above" != /sys/devices ] && [ "$above" != / ]; do
        file "$above/numa_node"
        above=${above%/*}
    done
    dm=$(cat "$device/dm/name" 2>/dev/null)
    [ -n "$dm" ] && printf '/dev/mapper/%s -> ../%s\n' "$dm" "$name"
    printf '/dev/%s = \n' "$name"
done | awk '!seen[$0]++'
for link in /sys/fs/btrfs/*/devices/*; do link "$link"; done

#!/usr/bin/env python3
"""An engine for fathom: each file of the job is a file of this machine. See docs/CUSTOM-ENGINES.md.

fathom run --name=a --ioengine=custom --custom_program=./file.py --filename=data --rw=randrw --bs=4k --size=1m
"""

import errno
import json
import mmap
import os
import struct

MEMORY, SUBMITTED, COMPLETED = 3, 4, 5
READ, WRITE, TRIM, SYNC, END = range(5)
SUBMISSION_TAIL, SUBMISSION_HEAD, COMPLETION_TAIL, STATE = 128, 192, 256, 384

memory = mmap.mmap(MEMORY, os.fstat(MEMORY).st_size)


def word(place):
    return struct.unpack_from("<I", memory, place)[0]


def long(place):
    return struct.unpack_from("<Q", memory, place)[0]


def put_word(place, value):
    struct.pack_into("<I", memory, place, value & 0xFFFFFFFF)


def carry_out(files, operation, slot, file, offset, length):
    """Bytes moved, or a negative errno."""
    start = long(24) + slot * long(16)
    try:
        if operation == READ:
            data = os.pread(files[file], length, offset)
            memory[start : start + len(data)] = data
            return len(data)
        if operation == WRITE:
            return os.pwrite(files[file], memory[start : start + length], offset)
        if operation == SYNC:
            os.fsync(files[file])
            return 0
        return -errno.EOPNOTSUPP
    except OSError as error:
        return -error.errno


def main():
    assert memory[:8] == b"FATHOMIO" and word(8) == 1, "another protocol"
    job = json.loads(memory[long(56) : long(56) + long(64)])
    flags = os.O_RDWR | os.O_CREAT if job["writes"] else os.O_RDONLY
    files = []
    for number, name in enumerate(job["files"]):
        # Before the run fathom asks for sizes only: a file that is not there has none yet.
        if job["writes"] or os.path.exists(name):
            files.append(os.open(name, flags, 0o644))
            struct.pack_into("<Q", memory, long(72) + 8 * number, os.fstat(files[-1]).st_size)
    put_word(STATE, 1)
    os.write(COMPLETED, struct.pack("=Q", 1))

    entries, submissions, completions = word(48), long(32), long(40)
    head = tail = 0
    while True:
        os.read(SUBMITTED, 8)
        while head != word(SUBMISSION_TAIL):
            at = submissions + head % entries * 32
            slot, operation, file, _, offset, length = struct.unpack_from("<IIIIQQ", memory, at)
            head = (head + 1) & 0xFFFFFFFF
            put_word(SUBMISSION_HEAD, head)
            if operation == END:
                return
            result = carry_out(files, operation, slot, file, offset, length)
            struct.pack_into("<IIq", memory, completions + tail % entries * 16, slot, 0, result)
            tail = (tail + 1) & 0xFFFFFFFF
            put_word(COMPLETION_TAIL, tail)
        os.write(COMPLETED, struct.pack("=Q", 1))


main()

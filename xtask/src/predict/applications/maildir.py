"""Two processes deliver messages into a maildir, the current directory: each message is written, synced and renamed, and the
directory is synced. After every third, a message is read and removed. Usage: maildir.py SECONDS"""

import os
import random
import sys
import time

seconds = int(sys.argv[1])


def sync_directory(path):
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def deliver(number):
    draw = random.Random(number)
    until = time.monotonic() + seconds
    waiting = []
    count = 0
    while time.monotonic() < until:
        count += 1
        name = f"{number}.{count}"
        with open(f"tmp/{name}", "wb") as file:
            file.write(draw.randbytes(draw.randint(2_000, 30_000)))
            file.flush()
            os.fsync(file.fileno())
        os.rename(f"tmp/{name}", f"new/{name}")
        sync_directory("new")
        waiting.append(name)
        if count % 3 == 0:
            chosen = waiting.pop(draw.randrange(len(waiting)))
            with open(f"new/{chosen}", "rb") as file:
                file.read()
            os.unlink(f"new/{chosen}")


children = []
for number in range(2):
    child = os.fork()
    if child == 0:
        deliver(number)
        os._exit(0)
    children.append(child)
sys.exit(any(os.waitpid(child, 0)[1] for child in children))

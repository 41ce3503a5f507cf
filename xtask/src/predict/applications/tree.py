"""Makes a tree of text files with words drawn from a seed. Usage: tree.py DIRECTORY FILES SEED"""

import os
import random
import sys

directory, files, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
draw = random.Random(seed)
words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(4000)]
for number in range(files):
    place = os.path.join(directory, f"d{number % 20}")
    os.makedirs(place, exist_ok=True)
    with open(os.path.join(place, f"f{number}.txt"), "w", encoding="ascii") as file:
        # Most files of a tree of sources are small.
        count = min(int(draw.paretovariate(1.2) * 200), 20_000)
        file.write(" ".join(draw.choices(words, k=count)))

#!/usr/bin/env python3
"""Draw the four programs to learn from. The seed was drawn on 2026-11-28, before the first run and before any fit."""
import random

from run import PROGRAMS

SEED = 157082

if __name__ == '__main__':
    learn = set(random.Random(SEED).sample(sorted(PROGRAMS), 4))
    for program in PROGRAMS:
        print(f"{program:12s} {'learn' if program in learn else 'judge'}")

#!/usr/bin/env python3
"""Draw the four programs to learn from. The seed was drawn on 2026-11-28, before the first run and before any fit."""
import random

PROGRAMS = ('star', 'reach', 'regression', 'parse', 'skew', 'shuffle', 'stream', 'files')
SEED = 157082


def to_learn_from():
    return set(random.Random(SEED).sample(sorted(PROGRAMS), 4))


if __name__ == '__main__':
    for program in PROGRAMS:
        print(f"{program:12s} {'learn' if program in to_learn_from() else 'judge'}")

#!/usr/bin/env python3
"""Check phase logs made by run.py, and print a table of their jobs.

    python3 table.py FOLDER

The check: the phases of each task follow each other without a gap, a slot runs one task at a time, the tasks that hold the GPU are
never more than the permits, and the last task ends with the job.
"""
import csv
import gzip
import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path

HOLDS = ('to_gpu', 'gpu', 'to_host')
# A task logs the end of its last phase before it gives the permit back, so the next task can only seem to take it early by a rounding.
ROUNDING = 2e-6


def read_log(path):
    """Returns the tasks of a log: by (kind, task), its slot and its phases (name, start, end), in order."""
    tasks = defaultdict(list)
    with gzip.open(path, 'rt') as f:
        for row in csv.DictReader(f):
            tasks[row['kind'], int(row['task'])].append((row['phase'], float(row['start_s']), float(row['end_s']), int(row['slot'])))
    return tasks


def check(name, job, tasks):
    """Stops with a message if a log contradicts itself."""
    def claim(holds, what):
        if not holds:
            sys.exit(f'{name}: {what}')
    claim(sum(kind == 'map' for kind, _ in tasks) == job['maps'], 'not all maps')
    claim(sum(kind == 'reduce' for kind, _ in tasks) == job['reduces'], 'not all reduces')
    by_slot, changes = defaultdict(list), []
    for (kind, task), phases in tasks.items():
        claim(all(a[2] == b[1] for a, b in zip(phases, phases[1:])), f'a gap within {kind} {task}')
        by_slot[phases[0][3]].append((phases[0][1], phases[-1][2]))
        if kind == 'map':
            changes.append((next(p for p in phases if p[0] == 'to_gpu')[1] + ROUNDING, 1))
            changes.append((next(p for p in phases if p[0] == 'to_host')[2], -1))
    for slot, times in by_slot.items():
        times.sort()
        claim(all(a[1] <= b[0] for a, b in zip(times, times[1:])), f'two tasks at a time on slot {slot}')
    holding = most = 0
    for _, change in sorted(changes):
        holding += change
        most = max(most, holding)
    claim(not job['permits'] or most <= job['permits'], f'{most} tasks hold the GPU at a time')
    last = max(p[-1][2] for p in tasks.values())
    claim(0 <= job['job_s'] - last < 0.2, 'the last task does not end with the job')


def summary(job, tasks):
    """Returns the cells of a job: means over its maps in seconds."""
    total = defaultdict(float)
    for (kind, _), phases in tasks.items():
        for phase, start, end, _ in phases:
            total[kind, phase] += end - start
    per_map = {phase: t / job['maps'] for (kind, phase), t in total.items() if kind == 'map'}
    load = max(p[-1][2] for (kind, _), p in tasks.items() if kind == 'slot')
    return dict(job=job['job_s'], maps=job['maps_end_s'], load=load, host=sum(per_map[p] for p in ('read', 'cpu', 'spill')),
                wait=per_map['gpu_wait'], held=sum(per_map[p] for p in HOLDS), kernel=per_map['gpu'],
                busy=job['cpu_busy'] * job['cores'], steal=job['cpu_steal'], before=job['busy_before'])


def main():
    folder = Path(sys.argv[1])
    jobs = [json.loads(line) for line in (folder / 'jobs.jsonl').read_text().splitlines()]
    shapes = defaultdict(list)
    for job in jobs:
        tasks = read_log(folder / f"{job['name']}.csv.gz")
        check(job['name'], job, tasks)
        shapes[job['workload'], job['maps'], job['split_mb'], job['slots'], job['permits']].append(summary(job, tasks))
    cores = {job['cores'] for job in jobs}
    print(f"{len(jobs)} jobs, {'/'.join(map(str, cores))} cores; shares of CPU time before a job (at most) "
          f"{max(j['busy_before'] for j in jobs):.1%} busy, during a job (at most) {max(j['cpu_steal'] for j in jobs):.1%} stolen\n")
    print('| workload | maps | split [MB] | slots | permits | job [s] | maps end [s] | slots loaded [s] | host phases of a map [s] | wait for the GPU [s] | GPU held [s] | of which kernels [s] | busy cores |')
    print('|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|')
    differences = []
    for (workload, maps, split, slots, permits), runs in sorted(shapes.items()):
        def mean(key):
            return statistics.fmean(run[key] for run in runs)
        times = ', '.join(f"{run['job']:.2f}" for run in runs)
        cells = [f"{mean(k):.2f}" for k in ('maps', 'load', 'host')] + [f"{mean(k):.3f}" for k in ('wait', 'held', 'kernel')] + [f"{mean('busy'):.1f}"]
        print(f"| {workload} | {maps} | {split} | {slots} | {permits or 'none'} | {times} | {' | '.join(cells)} |")
        if len(runs) == 2:
            a, b = (run['job'] for run in runs)
            differences.append(abs(a - b) / (a + b) * 2)
    if differences:
        print(f"\nRepeats: {len(differences)} pairs differ by {statistics.median(differences):.1%} (median), at most {max(differences):.1%}.")


if __name__ == '__main__':
    main()

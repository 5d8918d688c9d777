#!/usr/bin/env python3
"""Predict the jobs of a folder from its small jobs, and print the table of measured and predicted times.

    python3 predict.py FOLDER [--tailspn PROGRAM] [--run [OPTION...]]

The calibration jobs of each workload are those of 4 and 8 maps on 4 slots, of 16 maps of twice the split, and of 16 maps without permits, with all their
repeats. `tailspn tool fit` makes a plan of them; it learns the cores of the host and the permits from jobs.jsonl, as columns of the logs. `tailspn estimate`
predicts all other jobs. Nothing else of the other jobs is used. Baselines, from the same jobs:

* the paper's net: all maps at once, exponential phases with the means that the logs show, no waits;
* no GPU waits: the fitted plan, but no task waits for a GPU or shares one;
* regression: a straight line through the job times, over the input.

The column "start known" replaces the predicted start of the slots by the one in the log of the predicted job; it is no prediction, but shows how much of
an error comes from the start.

With --run, run.py runs the jobs first; its options follow, for example `--run --cpu`.
"""
import argparse
import csv
import gzip
import io
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CALIBRATION = {(4, 1, 4, 1), (8, 1, 4, 1), (16, 2, 4, 1), (16, 1, 4, 0)}  # maps, split in small splits, slots, permits
ORDER = ('load', 'read', 'map', 'to_gpu', 'gpu', 'to_host', 'spill', 'shuffle', 'merge', 'reduce')


def read_jobs(folder):
    jobs = [json.loads(line) for line in (folder / 'jobs.jsonl').read_text().splitlines()]
    for job in jobs:
        small = min(other['split_mb'] for other in jobs if other['workload'] == job['workload'])
        job['shape'] = (job['maps'], job['split_mb'] // small, job['slots'], job['permits'])
        job['input_mb'] = job['maps'] * job['split_mb']
    return jobs


def text_of(folder, job):
    log = next(path for path in (folder / f"{job['name']}.csv.gz", folder / f"{job['name']}.csv") if path.exists())
    return gzip.open(log, 'rt').read() if log.suffix == '.gz' else log.read_text()


def with_columns(folder, job, to, columns):
    """Writes a job's log with columns for what the log does not tell; returns the path."""
    text = text_of(folder, job)
    path = Path(to) / f"{job['name']}-{'-'.join(columns)}.csv"
    with open(path, 'w', newline='') as out:
        writer = csv.writer(out, lineterminator='\n')
        for i, row in enumerate(csv.reader(io.StringIO(text))):
            writer.writerow(row + ([job[column] for column in columns] if i else columns))
    return path


def loaded_s(folder, job):
    """Returns the time at which the last slot of a job had started, from its log."""
    return max(float(row['end_s']) for row in csv.DictReader(io.StringIO(text_of(folder, job))) if row['kind'] == 'slot')


class Tailspn:
    def __init__(self, program, folder):
        self.program, self.folder, self.known = program, folder, {}

    def call(self, *arguments):
        found = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True)
        if found.returncode:
            sys.exit(f"{self.program} {' '.join(map(str, arguments))}: {found.stderr or found.stdout}")
        return found.stdout

    def fit(self, name, logs):
        plan = Path(self.folder) / f'{name}.toml'
        self.call('fit', *logs, '--save-plan', plan, '--force')
        return plan

    def estimate(self, plan, *options):
        key = (plan.read_text(), options)
        if key not in self.known:
            self.known[key] = json.loads(self.call('estimate', plan, *options, '--json', '--seed', 0))
        return self.known[key]

    def predict(self, plan, job):
        """Returns the estimate of a job by a fitted plan."""
        return self.estimate(plan, '--input-size', f"{job['input_mb']}MB", '--split-size', f"{job['split_mb']}MB", '--map-slots', job['slots'],
                             '--reduce-slots', job['reduce_slots'], '--reduces', job['reduces'], '--gpu-permits', job['permits'])


def papers_net(tailspn, plan, job):
    """Returns the mean time of the paper's net: all maps at once, exponential phases with the fitted means at this size."""
    means = {phase['name']: phase['mean_s'] for phase in tailspn.predict(plan, job)['phases']}
    load, read, cpu, to_gpu, gpu, to_host, spill, shuffle, merge, reduce = (means.get(name, 0.0) for name in ORDER)
    path = plan.with_name(f"{job['name']}-net.toml")
    path.write_text(f"[phases]\nmeans_s = {[load, read, cpu + to_gpu, gpu, to_host, spill, shuffle, merge, reduce]}\nmaps = {job['maps']}\n"
                    f"reduces = {job['reduces']}\n[cluster]\nreplicas = 1\n[[cluster.node]]\n[model]\nslots = false\n")
    return tailspn.estimate(path, '--method', 'exact')['analytic']['mean']


def without_gpu_waits(plan):
    """Returns the fitted plan, with a GPU for each task. The other lines stay."""
    lines = [line for line in plan.read_text().splitlines() if line.split(' ')[0] not in ('gpus', 'gpu_permits')]
    path = plan.with_name(plan.stem + '-alone.toml')
    path.write_text('\n'.join(lines) + '\n')
    return path


def line_through(points):
    slope, intercept = statistics.linear_regression(*zip(*points))
    return lambda x: intercept + slope * x


def rows_of(folder, program):
    """Yields a row for each job that is not a calibration job."""
    jobs = read_jobs(folder)
    with tempfile.TemporaryDirectory() as temporary:
        tailspn = Tailspn(program, temporary)
        for workload in sorted({job['workload'] for job in jobs}):
            mine = [job for job in jobs if job['workload'] == workload]
            small = [job for job in mine if job['shape'] in CALIBRATION]
            plan = tailspn.fit(workload, [with_columns(folder, job, temporary, ['cores', 'permits']) for job in small])
            # as in the paper: times as they were measured, whatever else ran
            measured = tailspn.fit(f'{workload}-measured', [with_columns(folder, job, temporary, ['permits']) for job in small])
            alone = without_gpu_waits(plan)
            regression = line_through([(job['input_mb'], job['job_s']) for job in small])
            for job in sorted((job for job in mine if job['shape'] not in CALIBRATION), key=lambda job: (job['shape'], job['repeat'])):
                found = tailspn.predict(plan, job)
                low, high = found['next_run']['prediction_s']
                options = ('--input-size', f"{job['input_mb']}MB", '--split-size', f"{job['split_mb']}MB", '--map-slots', job['slots'])
                load = next(phase['mean_s'] for phase in found['phases'] if phase['name'] == 'load')
                predicted = found['next_run']['median_s']
                yield dict(job=job, predicted=predicted, low=low, high=high, loaded=predicted + loaded_s(folder, job) - load, net=papers_net(tailspn, measured, job),
                           alone=tailspn.estimate(alone, *options)['next_run']['median_s'], regression=regression(job['input_mb']))


def error(row, key):
    return row[key] / row['job']['job_s'] - 1


def summary(rows):
    found = {}
    for key in ('predicted', 'loaded', 'net', 'alone', 'regression'):
        errors = [abs(error(row, key)) for row in rows]
        found[key] = dict(median=statistics.median(errors), largest=max(errors))
    found['inside'] = statistics.fmean(row['low'] <= row['job']['job_s'] <= row['high'] for row in rows)
    return found


def print_table(rows):
    print('| job | measured [s] | predicted [s] | 90% interval [s] | error | inside | error, start known | paper\'s net | no GPU waits | regression |')
    print('|---|---:|---:|---:|---:|---|---:|---:|---:|---:|')
    for row in rows:
        job = row['job']
        inside = 'yes' if row['low'] <= job['job_s'] <= row['high'] else 'no'
        others = ' | '.join(f'{error(row, key):+.0%}' for key in ('net', 'alone', 'regression'))
        print(f"| {job['name']} | {job['job_s']:.2f} | {row['predicted']:.2f} | {row['low']:.2f} to {row['high']:.2f} | {error(row, 'predicted'):+.1%} | {inside} | {error(row, 'loaded'):+.1%} | {others} |")
    for workload in [*sorted({row['job']['workload'] for row in rows}), None]:
        mine = [row for row in rows if workload in (None, row['job']['workload'])]
        found = summary(mine)
        text = ', '.join(f"{name} {found[key]['median']:.1%} and {found[key]['largest']:.1%}" for name, key in
                         (('model', 'predicted'), ('start known', 'loaded'), ("the paper's net", 'net'), ('no GPU waits', 'alone'), ('regression', 'regression')))
        print(f"\n{workload or 'All'}, {len(mine)} jobs; median and largest error: {text}. {found['inside']:.0%} inside the interval.")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('folder', type=Path)
    p.add_argument('--tailspn', default='tailspn', help='program [default: tailspn]')
    p.add_argument('--json', action='store_true', help='print the summary as JSON')
    p.add_argument('--run', nargs=argparse.REMAINDER, help='run the jobs first, with these options of run.py')
    o = p.parse_args()
    if o.run is not None:
        subprocess.run([sys.executable, Path(__file__).with_name('run.py'), '--out', o.folder, *o.run], check=True)
    rows = list(rows_of(o.folder, o.tailspn))
    if o.json:
        print(json.dumps(summary(rows)))
    else:
        print_table(rows)


if __name__ == '__main__':
    main()

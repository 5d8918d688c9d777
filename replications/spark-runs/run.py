#!/usr/bin/env python3
"""Make the 96 Spark runs of this folder again: eight programs, five sizes on two executors, the middle size on one, two repeats.

    python3 run.py --out FOLDER [--work FOLDER] [--only PROGRAM...]

Installs Java (with apt-get, if the machine lacks it) and pyspark (in a virtual environment under --work), makes the inputs, then runs one
program at a time, in an order that a seed shuffles within each repeat. Each run waits, for up to two minutes, until the host is idle:
less than a tenth of its CPU time in use over a second. FOLDER/learn and FOLDER/judge (see lot.py) get one event log (gzip) and one
line of runs.jsonl for each run. A run that is in runs.jsonl already is not repeated. Needs 4 GB of disk and an hour on two cores that
do nothing else.
"""
import argparse
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from host_load import cpu_shares, cpu_ticks
from lot import PROGRAMS, to_learn_from

PACKAGES = ['pyspark==3.5.6', 'numpy==1.26.4', 'pyarrow==17.0.0']
SCALES, MIDDLE, REPEATS, ORDER_SEED = (1, 2, 4, 8, 16), 4, (1, 2), 47
# Paths and names of the machine that made a log, which say nothing of the run
PRIVATE = ('Classpath Entries', 'Hadoop Properties', 'Metrics Properties')


def install(work):
    """Returns the Python that has pyspark."""
    if not shutil.which('java'):
        root = [] if os.geteuid() == 0 else ['sudo']
        subprocess.run([*root, 'apt-get', 'update', '-qq'], check=True)
        subprocess.run([*root, 'apt-get', 'install', '-y', '-qq', '--no-install-recommends', 'openjdk-17-jre-headless'], check=True)
    python = f'{work}/venv/bin/python'
    installed = os.path.exists(python) and subprocess.run([python, '-c', 'import pyspark, pyarrow'], capture_output=True).returncode == 0
    if not installed:
        subprocess.run([sys.executable, '-m', 'venv', f'{work}/venv'], check=True)
        # pyspark is a source package, which recent versions of setuptools no longer build by themselves
        subprocess.run([python, '-m', 'pip', 'install', '-q', '--disable-pip-version-check', 'setuptools<81', 'wheel', *PACKAGES], check=True)
    return python


def wait_until_idle():
    """Returns the shares (busy, steal) of the last second before the run."""
    for _ in range(120):
        before = cpu_ticks()
        time.sleep(1)
        busy, steal = cpu_shares(before, cpu_ticks())
        if busy < 0.1:
            break
    return busy, steal


def read_log(lines):
    """Returns the events without private fields, the job time in seconds, the number of tasks and their input in bytes."""
    kept, begin, end, tasks, read = [], [], [], 0, 0
    for line in lines:
        event = json.loads(line)
        kind = event['Event']
        if kind == 'SparkListenerEnvironmentUpdate':
            for part in PRIVATE:
                event.pop(part, None)
            event['System Properties'] = {k: v for k, v in event['System Properties'].items() if k in ('java.version', 'os.arch', 'os.name')}
            line = json.dumps(event, separators=(',', ':')) + '\n'
        elif kind == 'SparkListenerJobStart':
            begin.append(event['Submission Time'])
        elif kind == 'SparkListenerJobEnd':
            end.append(event['Completion Time'])
        elif kind == 'SparkListenerTaskEnd':
            tasks += 1
            read += (event.get('Task Metrics') or {}).get('Input Metrics', {}).get('Bytes Read', 0)
        kept.append(line)
    return kept, (max(end) - min(begin)) / 1000, tasks, read


def run_one(python, work, out, program, scale, executors, repeat):
    name = f'{program}-x{scale}-{executors}x1-r{repeat}'
    temporary = tempfile.mkdtemp(dir=work)
    busy_before, steal_before = wait_until_idle()
    before, start = cpu_ticks(), time.monotonic()
    done = subprocess.run([python, f'{HERE}/programs.py', 'run', f'{work}/data', temporary, program, str(scale), str(executors), name],
                          cwd=work, capture_output=True, text=True,
                          env={**os.environ, 'SPARK_LOCAL_IP': '127.0.0.1', 'SPARK_LOCAL_HOSTNAME': 'localhost'})
    process_s = time.monotonic() - start
    busy, steal = cpu_shares(before, cpu_ticks())
    if done.returncode:
        raise SystemExit(f'{name}: {done.stderr[-3000:]}')
    log, = (e.path for e in os.scandir(temporary) if e.name.startswith('app-'))
    with open(log) as f:
        kept, job_s, tasks, read = read_log(f)
    # log4j and Spark write the path of the working folder into plans and settings
    text = ''.join(kept).replace(temporary, '/run').replace(work, '/work').replace(HERE, '/scripts')
    with open(f'{out}/{name}.gz', 'wb') as f, gzip.GzipFile('', 'wb', 9, f, 0) as z:
        z.write(text.encode())
    shutil.rmtree(temporary)
    size = sum(e.stat().st_size for folder, _, _ in os.walk(f'{work}/data/{program}-{scale}') for e in os.scandir(folder) if e.is_file())
    with open(f'{out}/runs.jsonl', 'a') as f:
        f.write(json.dumps(dict(
            name=name, program=program, scale=scale, executors=executors, repeat=repeat, job_s=round(job_s, 3), process_s=round(process_s, 3),
            tasks=tasks, files_mb=round(size / 1e6, 3), input_mb=round(read / 1e6, 3), busy_before=busy_before, steal_before=steal_before,
            cpu_busy=busy, cpu_steal=steal, cores=os.cpu_count(), started=time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(time.time() - process_s)))) + '\n')
    print(f'{name:24s} {job_s:7.2f} s, {tasks:4d} tasks, {os.path.getsize(f"{out}/{name}.gz") // 1000:4d} kB, busy before {busy_before:.0%}', flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--out', required=True)
    p.add_argument('--work', default=os.path.join(tempfile.gettempdir(), 'spark-runs'))
    p.add_argument('--only', nargs='*', default=PROGRAMS, metavar='PROGRAM')
    o = p.parse_args()
    o.work = os.path.abspath(o.work)
    out = {program: f"{o.out}/{'learn' if program in to_learn_from() else 'judge'}" for program in PROGRAMS}
    for folder in (o.work, *out.values()):
        os.makedirs(folder, exist_ok=True)
    python = install(o.work)
    if not os.path.exists(f'{o.work}/data/done'):
        subprocess.run([python, f'{HERE}/programs.py', 'inputs', f'{o.work}/data'], check=True)
        open(f'{o.work}/data/done', 'w').close()
    done = set()
    for folder in set(out.values()):
        if os.path.exists(f'{folder}/runs.jsonl'):
            with open(f'{folder}/runs.jsonl') as f:
                done |= {json.loads(line)['name'] for line in f}
    order = random.Random(ORDER_SEED)
    for repeat in REPEATS:
        runs = [(program, scale, executors) for program in PROGRAMS for scale in SCALES for executors in (2, 1) if executors == 2 or scale == MIDDLE]
        order.shuffle(runs)
        for program, scale, executors in runs:
            if program in o.only and f'{program}-x{scale}-{executors}x1-r{repeat}' not in done:
                run_one(python, o.work, out[program], program, scale, executors, repeat)


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
"""Compute the times of schedules.toml event by event, and compare them with those worked out by hand. Needs Python 3.11.

Everything is exact: times are fractions.
"""
import heapq
import itertools
import sys
import tomllib
from fractions import Fraction
from math import ceil
from pathlib import Path

PHASES = ('read', 'cpu', 'gpu_part', 'spill')


def fraction(number):
    return Fraction(str(number))


class Machine:
    def __init__(self, given):
        self.speed = fraction(given.get('speed', 1))
        self.ready = fraction(given.get('ready_s', 0))
        self.map_slots = given['map_slots']
        self.reduce_slots = given.get('reduce_slots', self.map_slots)
        self.free_gpus = given.get('gpus')
        self.waiting = []


def machines_of(schedule):
    return [Machine(m) for m in schedule['machines'] for _ in range(m.get('count', 1))]


class Clock:
    """Events in the order of their times; among equals, in the order in which they were planned."""

    def __init__(self):
        self.events, self.count, self.now = [], itertools.count(), Fraction(0)

    def at(self, time, action, *arguments):
        heapq.heappush(self.events, (time, next(self.count), action, arguments))

    def run(self, settle):
        """Runs all events; `settle` runs once all events of a time are over."""
        while self.events:
            self.now = self.events[0][0]
            while self.events and self.events[0][0] == self.now:
                _, _, action, arguments = heapq.heappop(self.events)
                action(*arguments)
            settle()


def run_tasks(begin, machines, slots_of, tasks):
    """Runs tasks, each a list of times by PHASES, in their order; returns the end of each."""
    clock, ends, queue, free = Clock(), [None] * len(tasks), list(range(len(tasks))), []

    def open_slot(machine):
        free.append(machine)

    def next_phase(task, machine, phase):
        if phase == len(PHASES):
            ends[task] = clock.now
            open_slot(machine)
        elif PHASES[phase] == 'gpu_part' and machine.free_gpus is not None and tasks[task][phase]:
            machine.waiting.append((clock.now, task))
        else:
            clock.at(clock.now + tasks[task][phase] / machine.speed, next_phase, task, machine, phase + 1)

    def release(task, machine):
        machine.free_gpus += 1
        next_phase(task, machine, PHASES.index('gpu_part') + 1)

    def settle():
        for machine in machines:
            machine.waiting.sort()
            while machine.waiting and machine.free_gpus:
                _, task = machine.waiting.pop(0)
                machine.free_gpus -= 1
                clock.at(clock.now + tasks[task][PHASES.index('gpu_part')] / machine.speed, release, task, machine)
        while queue and free:
            machine = max(free, key=lambda m: (m.speed, -machines.index(m)))
            free.remove(machine)
            next_phase(queue.pop(0), machine, 0)

    for machine in machines:
        for _ in range(slots_of(machine)):
            clock.at(max(begin, machine.ready), open_slot, machine)
    clock.run(settle)
    return ends


def map_times(maps):
    read, to_gpu, gpu, to_host, spill = (fraction(maps.get(phase, 0)) for phase in ('read', 'to_gpu', 'gpu', 'to_host', 'spill'))
    cpu = maps['cpu_times'] if 'cpu_times' in maps else [maps.get('cpu', 0)] * maps['count']
    return [[read, fraction(c), to_gpu + gpu + to_host, spill] for c in cpu]


def map_reduce(schedule):
    """Returns the end of the last map and of the job."""
    machines = machines_of(schedule)
    ends = sorted(run_tasks(fraction(schedule.get('load_s', 0)), machines, lambda m: m.map_slots, map_times(schedule['maps'])))
    reduces = schedule.get('reduces')
    if reduces is None:
        return ends[-1], ends[-1]
    shuffle = fraction(schedule.get('shuffle_s', 0))
    if 'slowstart' in schedule:
        copied = ends[max(1, ceil(fraction(schedule['slowstart']) * len(ends))) - 1]
        for end in ends:
            copied = max(copied, end) + shuffle / len(ends)
    else:
        copied = ends[-1] + shuffle
    task = [fraction(reduces.get('merge', 0)), fraction(reduces.get('reduce', 0)), 0, 0]
    return ends[-1], max(run_tasks(copied, machines, lambda m: m.reduce_slots, [task] * reduces['count']))


def staged(schedule):
    """Returns the end of the job."""
    stages, clock, free = schedule['stages'], Clock(), []
    left, running, done, ready = [s['tasks'] for s in stages], [0] * len(stages), [None] * len(stages), [False] * len(stages)
    warm = set()

    def start(stage):
        ready[stage] = True

    def end_task(stage, slot):
        running[stage] -= 1
        free.append(slot)
        if not left[stage] and not running[stage]:
            done[stage] = clock.now
            plan(clock.now)

    def plan(now):
        for number, stage in enumerate(stages):
            if number not in planned and all(done[a] is not None for a in stage.get('after', [])):
                planned.add(number)
                clock.at(now + fraction(stage.get('setup_s', 0)), start, number)

    def settle():
        free.sort()
        for stage in range(len(stages)):
            while ready[stage] and left[stage] and free:
                slot = free.pop(0)
                warm_s = stages[stage]['warm_s']
                time = warm_s if (stage, slot) in warm else stages[stage].get('cold_s', warm_s)
                warm.add((stage, slot))
                left[stage] -= 1
                running[stage] += 1
                clock.at(clock.now + fraction(time), end_task, stage, slot)

    planned = set()
    free.extend(range(sum(m.map_slots for m in machines_of(schedule))))
    plan(Fraction(0))
    clock.run(settle)
    return max(done) + fraction(schedule.get('teardown_s', 0))


def main():
    with open(Path(__file__).with_name('schedules.toml'), 'rb') as f:
        given = tomllib.load(f)
    wrong = []

    def compare(name, computed, by_hand):
        if abs(float(computed) - by_hand) > 1e-12:
            wrong.append(f'{name}: {float(computed)} s computed, {by_hand} s by hand')
    for schedule in given['schedule']:
        if 'stages' in schedule:
            compare(schedule['name'], staged(schedule), schedule['job_s'])
        else:
            maps_end, job = map_reduce(schedule)
            compare(f"{schedule['name']}, maps", maps_end, schedule['maps_end_s'])
            compare(schedule['name'], job, schedule['job_s'])
    equal = given['equal_work']
    for count, by_hand in enumerate(equal['job_s'], 1):
        _, job = map_reduce({**equal, 'reduces': {'count': count, 'reduce': Fraction(equal['reduce_work_s'], count)}})
        compare(f'equal work in {count} reduces', job, by_hand)
    print('\n'.join(wrong) or f"{len(given['schedule'])} schedules and {len(equal['job_s'])} sizes of equal work agree")
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())

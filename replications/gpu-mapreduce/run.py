#!/usr/bin/env python3
"""Run real MapReduce jobs on one GPU and log every phase of every task.

Slots are processes. A map task reads its split from disk, decodes it on the CPU, waits for a GPU permit, copies the split to the
GPU in blocks, computes (K-means or stereo depth), copies the result back, then sorts and spills its output by reducer. After the
last map, each reducer fetches its part of all map outputs, merges (sorts) and reduces. With P permits, at most P tasks hold the GPU,
from the first copy to the last; with 0 permits the driver shares the GPU between all slots.

Each job writes NAME.csv (one row per task and phase; times in seconds since the job started) and one line of jobs.jsonl. A job that
is in jobs.jsonl already is not repeated.
With --cpu, a wait of 20 ms replaces the GPU: the structure of the job and its load on the host stay real, and no GPU is needed.
Needs numpy, 9 GB of disk and, without --cpu, CuPy and an NVIDIA GPU.
"""
import argparse
import csv
import json
import multiprocessing as mp
import os
import shutil
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from host_load import cpu_shares, cpu_ticks

KERNELS = r'''
extern "C" __global__ void assign(const float* x, const float* c, int* best, float* dist, int n, int k, int iters) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
  float p[16]; for (int d = 0; d < 16; d++) p[d] = x[(size_t)i * 16 + d];
  float bestd = 3e38f; int b = 0;
  for (int it = 0; it < iters; it++) {
    float shift = 1e-3f * it;
    for (int j = 0; j < k; j++) {
      float s = 0.f;
      for (int d = 0; d < 16; d++) { float t = p[d] - c[j * 16 + d] - shift; s += t * t; }
      if (s < bestd) { bestd = s; b = j; }
    }
  }
  best[i] = b; dist[i] = bestd;
}
extern "C" __global__ void depth(const unsigned char* l, const unsigned char* r, unsigned char* out, int w, int h, int maxd, int frames) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, f = blockIdx.z;
  if (x >= w || y >= h || f >= frames) return;
  const unsigned char* L = l + (size_t)f * w * h; const unsigned char* R = r + (size_t)f * w * h;
  int best = 1 << 30, bd = 0;
  for (int d = 0; d < maxd; d++) {
    int s = 0;
    for (int dy = -4; dy <= 4; dy++) for (int dx = -4; dx <= 4; dx++) {
      int yy = min(max(y + dy, 0), h - 1), xl = min(max(x + dx, 0), w - 1), xr = min(max(x + dx - d, 0), w - 1);
      int t = (int)L[yy * w + xl] - (int)R[yy * w + xr]; s += t < 0 ? -t : t;
    }
    if (s < best) { best = s; bd = d; }
  }
  out[(size_t)f * w * h + y * w + x] = (unsigned char)bd;
}
'''
WIDTH, HEIGHT = 960, 540
CLUSTERS = 128
REDUCES, REDUCE_SLOTS = 4, 2
WORKLOADS = {'kmeans': 150, 'stereo': 96}  # iterations of K-means, largest disparity of stereo depth


class Gpu:
    """The GPU of a slot, or the wait that stands for it."""

    def __init__(self, real):
        self.real = real
        if real:
            import cupy
            self.cp = cupy
            module = cupy.RawModule(code=KERNELS)
            self.assign, self.depth = module.get_function('assign'), module.get_function('depth')
            cupy.zeros(1).sum().get()

    def wait(self, mark):
        mark('to_gpu')
        time.sleep(0.02)
        mark('gpu')

    def to_device(self, arrays, mark):
        device = [self.cp.asarray(a) for a in arrays]
        self.cp.cuda.Device().synchronize()
        mark('to_gpu', sum(a.nbytes for a in arrays))
        return device

    def computed(self, mark):
        self.cp.cuda.Device().synchronize()
        mark('gpu')

    def kmeans(self, blocks, centres, iters, mark):
        if not self.real:
            self.wait(mark)
            return [((b[:, 0] * 7).astype(np.int32) % len(centres), b[:, 1]) for b in blocks]
        c = self.cp.asarray(centres)
        results = []
        for x in self.to_device(blocks, mark):
            n = x.shape[0]
            best, dist = self.cp.empty(n, self.cp.int32), self.cp.empty(n, self.cp.float32)
            self.assign(((n + 255) // 256,), (256,), (x, c, best, dist, np.int32(n), np.int32(len(centres)), np.int32(iters)))
            results.append((best, dist))
        self.computed(mark)
        return [(b.get(), d.get()) for b, d in results]

    def stereo(self, blocks, disparity, mark):
        if not self.real:
            self.wait(mark)
            return [left for left, _ in blocks]
        device = self.to_device([side for block in blocks for side in block], mark)
        results = []
        for left, right in zip(device[::2], device[1::2]):
            frames = left.shape[0]
            out = self.cp.empty_like(left)
            self.depth(((WIDTH + 15) // 16, (HEIGHT + 15) // 16, frames), (16, 16),
                       (left, right, out, np.int32(WIDTH), np.int32(HEIGHT), np.int32(disparity), np.int32(frames)))
            results.append(out)
        self.computed(mark)
        return [o.get() for o in results]


class Phases:
    """The phases of one task: each mark ends the phase that began at the mark before it."""

    def __init__(self):
        self.rows, self.last = [], time.monotonic()

    def mark(self, phase, size=0):
        now = time.monotonic()
        self.rows.append((phase, self.last, now, size))
        self.last = now


def decode_kmeans(raw, job):
    x = np.frombuffer(raw, np.uint16).astype(np.float32)
    x *= 1 / 65536.
    x = x.reshape(-1, 16)
    x = (x - x.mean(0)) / (x.std(0) + 1e-6)
    return np.array_split(x, max(1, job.split_mb // job.block_mb))


def decode_stereo(raw, job):
    frames = np.frombuffer(raw, np.uint8)
    n = len(frames) // (2 * WIDTH * HEIGHT)
    frames = frames[:n * 2 * WIDTH * HEIGHT].reshape(n, HEIGHT, 2 * WIDTH)
    exposed = np.clip(frames.astype(np.float32) * 1.1 - 8, 0, 255).astype(np.uint8)
    left, right = np.ascontiguousarray(exposed[:, :, :WIDTH]), np.ascontiguousarray(exposed[:, :, WIDTH:])
    per_block = max(1, n * job.block_mb // job.split_mb)
    return [(left[i:i + per_block], right[i:i + per_block]) for i in range(0, n, per_block)]


def map_task(gpu, job, task, permits):
    phases = Phases()
    with open(f'{job.data}/{job.workload}-{task % job.files:04d}.bin', 'rb', buffering=0) as f:
        raw = bytearray(job.split_mb << 20)
        f.readinto(raw)
    phases.mark('read', len(raw))
    blocks = decode_kmeans(raw, job) if job.workload == 'kmeans' else decode_stereo(raw, job)
    phases.mark('cpu')
    if permits is not None:
        permits.acquire()
    phases.mark('gpu_wait')
    if job.workload == 'kmeans':
        centres = np.linspace(-2, 2, CLUSTERS * 16, dtype=np.float32).reshape(CLUSTERS, 16)
        out = gpu.kmeans(blocks, centres, job.iters, phases.mark)
        key, value = np.concatenate([k for k, _ in out]), np.concatenate([v for _, v in out])
    else:
        out = np.concatenate(gpu.stereo(blocks, job.iters, phases.mark))
        key = out.reshape(-1)[::4].astype(np.int32)
        value = np.arange(len(key), dtype=np.float32)
    size = key.nbytes + value.nbytes
    phases.mark('to_host', size)
    if permits is not None:
        permits.release()
    part = key % job.reduces
    order = np.lexsort((key, part))
    key, value, part = key[order], value[order], part[order]
    cuts = np.searchsorted(part, np.arange(job.reduces + 1))
    for r in range(job.reduces):
        with open(f'{job.tmp}/m{task}-r{r}.npy', 'wb') as f:
            np.save(f, np.stack([key[cuts[r]:cuts[r + 1]].view(np.float32), value[cuts[r]:cuts[r + 1]]]))
            f.flush()
            os.fsync(f.fileno())
    phases.mark('spill', size)
    return phases.rows


def reduce_task(job, task):
    phases = Phases()
    parts = [np.load(f'{job.tmp}/m{m}-r{task}.npy') for m in range(job.maps)]
    size = sum(p.nbytes for p in parts)
    phases.mark('shuffle', size)
    key, value = np.concatenate([p[0] for p in parts]).view(np.int32), np.concatenate([p[1] for p in parts])
    order = np.argsort(key, kind='stable')
    key, value = key[order], value[order]
    phases.mark('merge', size)
    groups = np.split(value, np.flatnonzero(np.diff(key)) + 1)
    result = [(float(np.sort(v)[len(v) // 2]), float(v.std())) for v in groups if len(v)]
    with open(f'{job.tmp}/out-{task}', 'w') as f:
        json.dump(result, f)
        f.flush()
        os.fsync(f.fileno())
    phases.mark('reduce', size)
    return phases.rows


def serve_slot(slot, job, todo, done, permits):
    gpu = Gpu(job.real)
    done.put(('slot', slot, slot, [('load', None, time.monotonic(), 0)]))
    while (task := todo.get()) is not None:
        try:
            rows = map_task(gpu, job, task, permits) if slot < job.slots else reduce_task(job, task)
            done.put(('map' if slot < job.slots else 'reduce', task, slot, rows))
        except Exception as e:  # the job reports it and ends
            done.put(('error', task, slot, repr(e)))


def run_job(job):
    """Runs a job; returns its rows and its times, all relative to its start."""
    context = mp.get_context('spawn')
    os.makedirs(job.tmp)
    cold = False
    if job.real:
        os.sync()
        try:
            with open('/proc/sys/vm/drop_caches', 'w') as f:
                f.write('3')
            cold = True
        except OSError:
            pass
    maps, reduces, done = context.Queue(), context.Queue(), context.Queue()
    permits = context.Semaphore(job.permits) if job.permits else None
    reducing = argparse.Namespace(**{**vars(job), 'real': False})
    still = cpu_ticks()
    time.sleep(0.4)
    before, start = cpu_ticks(), time.monotonic()
    slots = [context.Process(target=serve_slot, args=(s, job, maps, done, permits)) for s in range(job.slots)]
    slots += [context.Process(target=serve_slot, args=(job.slots + s, reducing, reduces, done, None)) for s in range(job.reduce_slots)]
    for p in slots:
        p.start()
    rows = []

    def collect(n):
        for _ in range(n):
            kind, task, slot, phases = done.get(timeout=200)
            if kind == 'error':
                raise RuntimeError(phases)
            rows.extend((kind, task, slot, phase, (begin or start) - start, end - start, size) for phase, begin, end, size in phases)

    try:
        collect(len(slots))
        for m in range(job.maps):
            maps.put(m)
        collect(job.maps)
        maps_end = time.monotonic() - start
        for r in range(job.reduces):
            reduces.put(r)
        collect(job.reduces)
        end, after = time.monotonic() - start, cpu_ticks()
        for s in range(len(slots)):
            (maps if s < job.slots else reduces).put(None)
        for p in slots:
            p.join()
    finally:
        for p in slots:
            p.kill()
        shutil.rmtree(job.tmp)
    (busy, steal), (busy_before, steal_before) = cpu_shares(before, after), cpu_shares(still, before)
    return rows, dict(job_s=round(end, 6), maps_end_s=round(maps_end, 6), cold=cold, cpu_busy=busy, cpu_steal=steal,
                      busy_before=busy_before, steal_before=steal_before)


def write_job(out, job, rows, times):
    with open(f'{out}/{job.name}.csv', 'w', newline='') as f:
        w = csv.writer(f, lineterminator='\n')
        w.writerow(['kind', 'task', 'slot', 'phase', 'start_s', 'end_s', 'bytes'])
        for kind, task, slot, phase, begin, end, size in sorted(rows, key=lambda r: r[4]):
            w.writerow([kind, task, slot, phase, f'{begin:.6f}', f'{end:.6f}', size or ''])
    kept = ('name', 'started', 'workload', 'repeat', 'maps', 'reduces', 'slots', 'reduce_slots', 'permits', 'split_mb', 'block_mb', 'iters', 'real')
    with open(f'{out}/jobs.jsonl', 'a') as f:
        f.write(json.dumps({**{k: getattr(job, k) for k in kept}, 'cores': len(os.sched_getaffinity(0)), **times}) + '\n')


def make_data(data, workload, files, megabytes):
    os.makedirs(data, exist_ok=True)
    rng = np.random.default_rng(1)
    n = megabytes << 20
    if workload == 'kmeans':
        base = rng.integers(0, 65536, n // 2, dtype=np.uint16).view(np.uint8)
    else:
        base = np.clip(rng.normal(128, 40, n), 0, 255).astype(np.uint8)
    for f in range(files):
        np.roll(base, 64 * f).tofile(f'{data}/{workload}-{f:04d}.bin')


# maps, slots, permits (0: the driver shares the GPU), splits of twice the size
SHAPES = [
    (4, 4, 1, False), (8, 4, 1, False), (16, 4, 1, False), (64, 4, 1, False), (32, 8, 1, False), (64, 8, 1, False),
    (32, 8, 2, False), (16, 4, 0, False), (64, 4, 0, False), (16, 4, 1, True), (48, 4, 1, True), (32, 2, 1, False),
    (32, 2, 0, False), (32, 4, 2, False), (32, 8, 0, False), (24, 8, 1, True), (24, 2, 1, True), (16, 8, 0, True),
]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--out', required=True, help='folder for the phase logs')
    p.add_argument('--data', default=os.path.join(tempfile.gettempdir(), 'mr-data'), help='folder for the input')
    p.add_argument('--budget', type=float, default=float('inf'), help='start no job after this many seconds')
    p.add_argument('--repeats', type=int, default=2)
    p.add_argument('--cpu', action='store_true', help='replace the GPU by a wait')
    p.add_argument('--tiny', action='store_true', help='a small input and three shapes, to try the script')
    o = p.parse_args()
    os.makedirs(o.out, exist_ok=True)
    begin = time.monotonic()
    split, files, shapes = (2, 8, SHAPES[:3]) if o.tiny else (32, 64, SHAPES)
    for workload in WORKLOADS:
        make_data(o.data, workload, files, 2 * split)
    # the first job must not share the disk with what is left to write
    os.sync()
    print(f'data in {time.monotonic() - begin:.1f} s', flush=True)
    done = set()
    if os.path.exists(f'{o.out}/jobs.jsonl'):
        with open(f'{o.out}/jobs.jsonl') as f:
            done = {json.loads(line)['name'] for line in f}

    def job_of(workload, repeat, maps, slots, permits, twice):
        size = split * 2 if twice else split
        return argparse.Namespace(
            name=f"{workload}-{maps}m-{size}mb-{slots}s-{f'p{permits}' if permits else 'free'}-r{repeat}",
            started=time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime()), workload=workload, repeat=repeat, maps=maps, reduces=REDUCES,
            slots=slots, reduce_slots=REDUCE_SLOTS, permits=permits, split_mb=size, block_mb=max(1, split // 2), iters=WORKLOADS[workload],
            real=not o.cpu, data=o.data, files=files, tmp=os.path.join(tempfile.gettempdir(), f'mr-tmp-{os.getpid()}'))

    # not logged: after the data was written, a virtual machine may take seconds to give its processes memory at full speed
    for workload in WORKLOADS:
        run_job(job_of(workload, 0, *shapes[2]))
    failed = False
    for repeat in range(1, o.repeats + 1):
        for shape in shapes:
            for workload in WORKLOADS:
                if time.monotonic() - begin > o.budget:
                    print('budget spent')
                    return failed
                job = job_of(workload, repeat, *shape)
                if job.name in done:
                    continue
                try:
                    rows, times = run_job(job)
                except Exception as e:
                    print(f'{job.name}: {e!r}', flush=True)
                    failed = True
                    continue
                write_job(o.out, job, rows, times)
                print(f"{job.name:34s} {times['job_s']:8.2f} s (maps {times['maps_end_s']:.2f})", flush=True)
    return failed


if __name__ == '__main__':
    sys.exit(main())

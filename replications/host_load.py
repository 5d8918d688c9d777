"""The load of the host, from /proc/stat: what the scripts that run jobs record before and during each job."""


def cpu_ticks():
    """Returns the ticks of all cores of the host since boot: (all, idle and iowait, steal)."""
    with open('/proc/stat') as f:
        ticks = [int(n) for n in f.readline().split()[1:9]]
    return sum(ticks), ticks[3] + ticks[4], ticks[7]


def cpu_shares(before, after):
    """Returns the shares of the host's CPU time between two readings: (busy, steal)."""
    every, idle, steal = (a - b for a, b in zip(after, before))
    return round(1 - idle / every, 4), round(steal / every, 4)

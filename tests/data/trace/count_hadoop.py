"""Counts of Hadoop histories and Rumen traces, found without the crate: `python3 count_hadoop.py FOLDER > hadoop-counts.tsv`.

FOLDER holds `hadoop-jhist` and `hadoop-rumen`. JSON is read by Python's own module, the text of 0.20 by regular expressions.
"""

import glob
import gzip
import json
import os
import re
import sys
from collections import Counter

COLUMNS = "file events jobs ended success failed killed unfinished total_ms hdfs_read".split()
WORDS = {"SUCCESS": "success", "FAILED": "failed", "KILLED": "killed"}


def text_of(path):
    opened = gzip.open(path, "rt", errors="replace") if path.endswith(".gz") else open(path, errors="replace")
    with opened as file:
        return file.read()


def history_json(text):
    counts, times = Counter(), {}
    for line in filter(str.strip, text.split("\n")[2:]):
        event = json.loads(line)
        kind, fields = event["type"], next(iter(event["event"].values()))
        counts["events"] += 1
        counts["jobs"] += kind == "JOB_SUBMITTED"
        if kind.endswith("_ATTEMPT_STARTED"):
            times.setdefault(fields["attemptId"], []).append(-fields["startTime"])
        for end, word in (("FINISHED", "success"), ("FAILED", "failed"), ("KILLED", "killed")):
            if kind.endswith("_ATTEMPT_" + end):
                counts[word] += 1
                times.setdefault(fields["attemptId"], []).append(fields["finishTime"])
    counts["unfinished"] = sum(len(pair) == 1 for pair in times.values())
    counts["total_ms"] = sum(sum(pair) for pair in times.values() if len(pair) == 2)
    return counts


def rumen(text):
    decoder, counts, at = json.JSONDecoder(), Counter(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        job, at = decoder.raw_decode(text, at)
        counts["events"] += 1
        counts["jobs"] += 1
        for task in sum((job.get(key) or [] for key in ("mapTasks", "reduceTasks", "otherTasks")), []):
            for attempt in task["attempts"]:
                counts[WORDS[attempt["result"]]] += 1
                start, finish = attempt.get("startTime", -1), attempt.get("finishTime", -1)
                counts["total_ms"] += finish - start if 0 < start <= finish else 0
                counts["hdfs_read"] += max(attempt.get("hdfsBytesRead", -1), 0)
    return counts


def history_text(text):
    counts, open_attempts = Counter(), {}
    record = r'^(Meta|Job|Task|MapAttempt|ReduceAttempt) ((?:[A-Z_]+="(?:[^"\\]|\\.)*" ?)*)\.\s*$'
    for kind, rest in re.findall(record, text, re.M | re.S):
        pairs = dict(re.findall(r'([A-Z_]+)="((?:[^"\\]|\\.)*)"', rest, re.S))
        counts["events"] += 1
        counts["jobs"] += kind == "Job" and "SUBMIT_TIME" in pairs
        if not kind.endswith("Attempt"):
            continue
        if "TASK_STATUS" not in pairs:
            open_attempts[pairs["TASK_ATTEMPT_ID"]] = int(pairs["START_TIME"])
            continue
        counts[WORDS[pairs["TASK_STATUS"]]] += 1
        start = int(pairs.get("START_TIME", 0)) or open_attempts.get(pairs["TASK_ATTEMPT_ID"])
        open_attempts.pop(pairs["TASK_ATTEMPT_ID"], None)
        counts["total_ms"] += max(int(pairs["FINISH_TIME"]) - start, 0) if start else 0
        found = re.search(r"\(HDFS_BYTES_READ\)\([^)]*\)\((\d+)\)", pairs.get("COUNTERS", ""))
        counts["hdfs_read"] += int(found.group(1)) if found else 0
    counts["unfinished"] = len(open_attempts)
    return counts


def main(folder):
    print("\t".join(COLUMNS))
    for path in sorted(glob.glob(folder + "/hadoop-*/**/*", recursive=True)):
        if os.path.isdir(path) or path.endswith((".xml", ".avpr")) or "topology" in path:
            continue
        text = text_of(path)
        start = text.lstrip()
        counts = history_json(text) if start.startswith("Avro") else rumen(text) if start[0] == "{" else history_text(text)
        counts["ended"] = counts["success"] + counts["failed"] + counts["killed"]
        # a history in JSON has its bytes in counters that are not added up here
        cells = {**counts, "hdfs_read": "-"} if start.startswith("Avro") else counts
        name = os.path.relpath(path, folder)
        print("\t".join([name, *(str(cells.get(column, 0)) for column in COLUMNS[1:])]))


main(sys.argv[1])

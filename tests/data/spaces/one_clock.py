#!/usr/bin/env python3
"""Keeps the rows of a recorded convolution that were recorded at one clock.

one_clock.py CACHE.json.gz SPACE.csv.gz OUT.csv.gz: CACHE is the source's file, which has each variant's time stamp and
samples; SPACE its reduction here, in the same order. A variant is left out where it began within 1.9 s after the end of
one whose samples took 90 ms or more, or where its quartiles are more than 10 % apart, since the clock moved while it ran.
Four slow ones that stepped within their first eight samples stay. Why: docs/results/2026-11-30-clock.md.
"""
import csv
import datetime
import gzip
import io
import json
import sys

LONG, COOLED, APART = 0.09, 1.9, 1.1

cache, space, out = sys.argv[1:]
recorded = list(json.load(gzip.open(cache))["cache"].values())
rows = list(csv.DictReader(gzip.open(space, "rt")))
assert len(recorded) == len(rows)
last_long = float("-inf")
kept = []
for source, row in zip(recorded, rows):
    parameters = list(row)[:7]
    assert all(int(row[name]) == source[name] for name in parameters), row
    if row["outcome"] != "ok":
        continue
    end = datetime.datetime.fromisoformat(source["timestamp"]).timestamp()
    begin = end - source["benchmark_time"] / 1e3
    if begin - last_long >= COOLED and float(row["q75_ms"]) < APART * float(row["q25_ms"]):
        kept.append(row)
    if sum(source["times"]) / 1e3 >= LONG:
        last_long = end
text = io.StringIO()
writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
writer.writeheader()
writer.writerows(kept)
with open(out, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
    packed.write(text.getvalue().encode())
print(f"{len(kept)} of {sum(row['outcome'] == 'ok' for row in rows)} variants", file=sys.stderr)

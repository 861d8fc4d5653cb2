"""Scan whole repositories for secrets: every commit of every ref, or the files of the tip.

plan      what there is to scan, in slices, each with a key of all that its result depends on
slices    scan one slice: changes -> findings -> judged by the tip's policy -> a part
local     have slices scanned in copies of this process; `cluster` by the workers of a Dask scheduler
state     the parts of earlier runs
run       plan, scan, join the parts (review/parts.py): a `Review`
"""

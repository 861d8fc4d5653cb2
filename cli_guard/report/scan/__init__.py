"""Scan whole repositories for secrets: every commit of every ref, or the files of the tip.

plan      what there is to scan, in slices, each with a key of all that its result depends on
slices    scan one slice: changes -> findings -> judged by the tip's policy -> a part
run       plan, have the slices scanned, join the parts (report/parts.py): a `Review`
cluster   have slices scanned by the workers of a Dask scheduler
"""

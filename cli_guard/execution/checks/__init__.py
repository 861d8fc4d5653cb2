"""The checks that a repository wants before a commit or a push: planned, run over exactly what is sent, told of.

planning.py   which checks a request needs, over which trees
trust.py      which of them their user trusts
running.py    all of them, beside each other; one.py a single one, in a checkout of its own
passes.py     what has passed once and is not run again
outcome.py    what came of a check, as a finding
progress.py   what is said meanwhile
"""

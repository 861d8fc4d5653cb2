"""The checks that a repository requires before a commit or a push, run over exactly what is sent.

planning.py   which checks a request needs, over which trees
trust.py      which of them the user trusts
running.py    all checks in parallel; runner.py one, in a checkout of its own
passes.py     the passes that are not run again
outcome.py    the outcome of a check, as a finding
"""

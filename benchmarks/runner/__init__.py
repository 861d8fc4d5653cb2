"""Run benchmark tasks, each in its own scratch world; check the answer and what the task has changed.

task file -> Task -> scratch world -> Outcome (and a person's next steps) -> checks -> Result -> table
"""

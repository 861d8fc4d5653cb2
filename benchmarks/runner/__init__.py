"""Runs benchmark tasks: each in a scratch world of its own, checked by what was answered and what it left behind.

task file -> Task -> scratch world -> Outcome (and what a person does then) -> checks -> Result -> table
"""

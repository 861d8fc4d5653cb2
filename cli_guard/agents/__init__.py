"""Coding agents: one file an agent, what it asks before it acts and what it is answered."""

"""Coding agents: one file an agent, with its request format, its answers and its settings."""

"""Runs commands in the foreground and the background, each with its process tree, output, errors and ports.

The public names are in `cli_guard.api`. Import nothing here: the supervisor of every command imports this package.
"""

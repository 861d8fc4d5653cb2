"""Finds secrets in text: what the secrets reviewer and redaction have in common.

    detectors   the rules of cli_guard/rules/secrets/, ready to be tried
    engine      keywords, windows, patterns, checks: `scan(text, path)` gives `Scan`
    checks      judge what a pattern matched; `assigned` judges assignments, `names` names, `values` values
    keyblocks   private keys of several lines       encoded   one level of base64
    places      what a path says about a text       filenames files that are a risk by their names

Standard library only. Nothing here reads a file but the rules, and nothing is compiled before it is needed.
"""

from cli_guard.secretscan.candidates import Hit, Scan
from cli_guard.secretscan.engine import scan

__all__ = ["Hit", "Scan", "scan"]

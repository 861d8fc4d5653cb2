"""Finds secrets in text: what the secrets reviewer and redaction have in common.

    detectors   the rules of cli_guard/rules/secrets/, ready to be tried
    engine      keywords, windows, patterns, checks: `scan(text, path)` gives `Scan`
    tokens      judge what is in a provider's format; `checks` what the words around a value say of it;
                `assigned` assignments; `names` names, `values` values; `grading` how bad and how sure
    keyblocks   private keys of several lines       encoded   one level of base64
    joined      literals in parts
    inserts     rows of a table                     added     added lines as one text, with their numbers
    places      what a path says about a text       filenames files that are a risk by their names

Standard library only. Nothing here reads a file but the rules, and nothing is compiled before it is needed.
"""

from cli_guard.secrets.candidates import Hit, Scan
from cli_guard.secrets.engine import scan, scan_keys

__all__ = ["Hit", "Scan", "scan", "scan_keys"]

"""Finds secrets in text: what the secrets reviewer and redaction have in common.

    detectors   the rules of cli_guard/rules/secrets/, ready to be tried
    engine      keywords, windows, patterns, checks: `scan(text, path)` gives `Scan`
    tokens      judge what is in a provider's format; `checks` judge by the words around a value; `assigned`
                assignments; `names` names, `values` values, `places` paths; `candidates` how bad and how sure
    keyblocks   private keys of several lines; `inserts` rows of a table; `disguised` literals in parts, base64
    added       added lines as one text, with their numbers; `filenames` files that are a risk by their names

Standard library only. Nothing here reads a file but the rules, and nothing is compiled before it is needed.
"""

from cli_guard.secrets.candidates import Hit, Scan
from cli_guard.secrets.engine import scan, scan_keys

__all__ = ["Hit", "Scan", "scan", "scan_keys"]

"""Find secrets in text, for the secrets reviewer and for redaction.

    detectors   the rules of cli_guard/rules/secrets/, compiled on demand
    engine      keywords, windows, patterns, checks: `scan(text, path)` returns a `Scan`
    tokens      judge provider formats; `checks` judge by the words around a value, `assigned` assignments;
                `names` names, `values` values, `places` paths; `candidates` severity and confidence
    keyblocks   private keys of several lines; `tables` columns of SQL and documents; `joined` what is in
                pieces, `disguised` what is encoded; `checksums` prove keys, `examples` find where a file shows values
    spread      values on other lines than their names, or in pieces; `logins` words as passwords, by what is beside
    notebooks   the prose, code and commands of a notebook
    added       added lines as one text, with their numbers; `filenames` files that are a risk by their names

Standard library only. Only the rules are read from disk.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cli_guard.secrets.candidates import Scan, SecretHit
    from cli_guard.secrets.engine import scan, scan_keys

__all__ = ["Scan", "SecretHit", "scan", "scan_keys"]


def __getattr__(name: str) -> Any:
    """Load the engine at its first use: most verdicts on a command show nothing that could hold a secret."""
    if name not in __all__:
        raise AttributeError(name)
    from cli_guard.secrets import engine

    return getattr(engine, name)

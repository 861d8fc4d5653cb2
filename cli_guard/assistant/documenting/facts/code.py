"""Pieces of source as they may be quoted in documentation: short, on one line, harmless, and free of secrets."""

import re
from functools import lru_cache

from cli_guard.secrets.redact import redact

LONGEST = 56
# What would end or alter the comment or string that the quotation stands in.
UNSAFE = ('"""', "'''", "*/", "/*", "\\", "`", "{@", "@param")
CREDENTIAL = re.compile(
    r"pass(word|wd|phrase)?|secret|token|api_?key|private_?key|credential|auth|salt|signature|(^|_)(pw|key|dsn)($|_)",
    re.IGNORECASE,
)
ADDRESS_WITH_USER = re.compile(r"\w+:/*[^\s/@]*:[^\s/@]*@")


@lru_cache(maxsize=4096)
def quotable(text: str, longest: int = LONGEST) -> str:
    """The text on one line, "" when it is too long or may not be shown."""
    if len(text) > 4 * longest:
        return ""
    line = " ".join(text.split())
    if not line or len(line) > longest or not line.isprintable() or any(bad in line for bad in UNSAFE):
        return ""
    if ADDRESS_WITH_USER.search(line):
        return ""
    return "" if redact(line) != line else line


def code(text: str, longest: int = LONGEST) -> str:
    """The text between backticks, "" when it may not be quoted."""
    line = quotable(text, longest)
    return f"`{line}`" if line else ""


def names_credential(name: str) -> bool:
    """Does a name say that its value is a credential?"""
    return bool(CREDENTIAL.search(name))

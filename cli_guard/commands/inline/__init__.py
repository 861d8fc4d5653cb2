"""One-liners inside commands: what a piece of code in a language does, as far as its text shows."""

from collections.abc import Mapping
from importlib import import_module

from cli_guard.commands.inline.model import Act, NotUnderstood, unknown

MOST = 20_000
# The module that reads each language, imported at the first code in that language.
READERS: Mapping[str, str] = {
    "python": "python",
    "perl": "strings",
    "ruby": "strings",
    "node": "strings",
    "php": "strings",
    "awk": "awk",
    "sed": "sed",
    "sql": "sql",
    "jq": "jq",
}


def acts(language: str, code: str) -> tuple[Act, ...]:
    """Return what a piece of code does; an empty result means that it is certainly harmless."""
    if language not in READERS:
        return (unknown(f"code in {language}"),)
    if len(code) > MOST:
        return (unknown(f"{language} code of more than {MOST} characters"),)
    if "\0" in code:
        return (unknown(f"{language} code with a NUL"),)
    reader = import_module(f"{__name__}.{READERS[language]}")
    found: dict[Act, None] = {}
    try:
        names = (language,) if READERS[language] == "strings" else ()
        for act in reader.acts(code, *names):
            found[act] = None
    except NotUnderstood as error:
        found[unknown(f"{language} code: {error}")] = None
    return tuple(found)


__all__ = ["Act", "acts"]

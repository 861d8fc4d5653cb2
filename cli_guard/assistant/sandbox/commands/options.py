"""Reads the words of a command that takes a fixed set of options; no other word ever reaches a program."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cli_guard.assistant.sandbox.commands.model import WrongUsage


@dataclass(frozen=True, slots=True)
class Options:
    """`values` by option ("" for a switch), what stands bare, and what stands behind `--` (None without one)."""

    values: dict[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    paths: tuple[str, ...] | None = None

    def has(self, name: str) -> bool:
        """Is the option there?"""
        return name in self.values


def read_options(words: tuple[str, ...], known: Mapping[str, str]) -> Options:
    """The options of a command; `known` is name -> what its value is called, "" for a switch. Raises WrongUsage."""
    values: dict[str, str] = {}
    bare: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            return Options(values, tuple(bare), tuple(waiting))
        if not word.startswith("-") or word == "-":
            bare.append(word)
            continue
        name, equals, value = word.partition("=") if word.startswith("--") else (word[:2], word[2:], word[2:])
        if word[1:].isdigit() and "-n" in known:
            name, equals, value = "-n", "=", word[1:]
        if name not in known:
            raise WrongUsage(f"no option {word}: it takes {', '.join(known) or 'none'}")
        if not known[name]:
            if equals:
                raise WrongUsage(f"{name} takes no value")
        elif not equals:
            if not waiting:
                raise WrongUsage(f"{name} needs {known[name]}")
            value = waiting.pop(0)
        values[name] = value
    return Options(values, tuple(bare))

"""What a tool is told by name: `make CC=gcc`, `mvn -Dtest=A`, `tox -x testenv.commands=...`, `air --build.cmd X`."""

import re
from collections.abc import Iterator

from cli_guard.commands.effects.arguments import CallArguments
from cli_guard.commands.expand.fields import Field
from cli_guard.commands.model import Span
from cli_guard.commands.programs import PLAIN, table
from cli_guard.lazy import frozen, regex

NAMED = regex(r"(?:--?(?:[DPJX](?=[A-Za-z]))?)?([A-Za-z_][\w.:-]*?)[:+?!]?=(.*)", re.DOTALL)
PART = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# Last parts of names whose value tools run, and what says so wherever it stands: `CC`, `HOST_CC`, `commands_pre`.
PROGRAMS = frozenset(
    "cc cxx cpp ld nm sh shell bash py python pytest tool wrapper launcher hook editor pager browser git docker node"
    " npm npx yarn pnpm pip go cargo rm cp mv mkdir install make compiler linker interpreter sudo".split()
)
COMMANDS = frozenset("cmd command commands exec executable program javaagent".split())
# What a shell does more with than split it at blanks.
SHELL_TEXT = regex(r"[;|&<>`\n]")
BLANK = regex(r"\s")


@frozen
class NamedValue:
    """A name and its value, as far as it is known; the name is empty for a word of a task that stands alone."""

    name: str
    value: str
    span: Span

    @property
    def names_code(self) -> bool:
        """Return whether the name is one of a program, a command or code."""
        parts = [part.lower() for part in PART.findall(self.name)]
        return not PROGRAMS.isdisjoint(parts[-1:]) or not COMMANDS.isdisjoint(parts)

    @property
    def is_option(self) -> bool:
        """Return whether the value is options of a program: `-O2`, `-k login`."""
        return self.value.startswith("-")


def settings_of(given: CallArguments, fields: list[Field]) -> Iterator[NamedValue]:
    """Yield the settings among the words of a call: those that its table calls so, and those that it does not know."""
    for option, word in given.values:
        if option.takes == "setting":
            yield split_setting(word, option.names[-1])
    plain = [word for kind, word in given.kinds if kind in PLAIN]
    for word in (*given.unknown, *plain):
        value = next_word(fields, word)
        if not word.start.startswith("-") or "=" in word.start:
            yield split_setting(word, "")
        elif value in given.operands and not value.start.startswith("-"):
            yield NamedValue(word.start, value.start, value.span)


def next_word(fields: list[Field], word: Field) -> Field:
    """Return the word after another one, or that one if it is the last."""
    at = next((at for at, each in enumerate(fields) if each is word), -1)
    return fields[at + 1] if 0 <= at < len(fields) - 1 else word


def split_setting(word: Field, name: str) -> NamedValue:
    is_options = name != "" and word.start.startswith("-")
    named = None if is_options else NAMED.fullmatch(word.start)
    if named is None:
        return NamedValue(name.lstrip("-"), word.start, word.span)
    # `--overwrite=MemoryCheckCommand=x`
    inner = (
        None if named[2][:1] == "-" or BLANK.search(named[2]) else NAMED.fullmatch(named[2])
    )
    last = inner or named
    return NamedValue(last[1], last[2], word.span)


def may_be_command(setting: NamedValue) -> bool:
    """Return whether a value is the text of a command, and not only a word, options or a sentence."""
    text = setting.value.strip()
    if setting.is_option or not (BLANK.search(text) or SHELL_TEXT.search(text)):
        return False
    first = text.split()[0] if text else ""
    return (
        setting.names_code
        or (setting.name != "" and SHELL_TEXT.search(text) is not None)
        or "/" in first
        or table(first) is not None
    )

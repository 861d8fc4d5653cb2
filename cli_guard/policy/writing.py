"""Write policies: a first one that fits a repository's languages, and a command rule in the user's own file."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from cli_guard.code.languages import FAMILY, language_for
from cli_guard.errors import ConfigError
from cli_guard.lazy import dataclass
from cli_guard.policy.config import (
    FILE,
    Config,
    Ignore,
    parse_config,
    parse_toml,
    read_config,
)
from cli_guard.policy.effective import toml_value
from cli_guard.policy.migration import read_others
from cli_guard.repository.protocol import Repository
from cli_guard.rules.catalog import read_table
from cli_guard.secrets.printable import printable

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """\
# The policy of cli-guard for this repository. It applies from the commit after the one that records it.
# A change that weakens it asks a person. `cli-guard config show` has every key, docs/policy.md what they do.
# To use a line, remove its first #.
"""
TABLE = re.compile(r"(?m)^[ \t]*\[")
COMMANDS = re.compile(r"(?m)^[ \t]*\[[ \t]*commands[ \t]*\][^\n]*\n?")
ALLOW = re.compile(r"(?m)^[ \t]*allow[ \t]*=[ \t]*\[")


@dataclass
class TakenOver:
    """The settings of other tools: values of keys, ignores (rule and path), each with its reason, and what is left."""

    keys: dict[str, tuple[Any, str]] = field(default_factory=dict)
    ignored: dict[tuple[str, str], str] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, root: "Path") -> "TakenOver":
        """Read them in a work tree."""
        taken = cls()
        for name, each in read_others(root):
            if isinstance(each, str):
                taken.left.append(f"  {name}: {each}")
            elif each[0]:
                taken.add_key(name, *each)
            else:
                taken.ignored.setdefault(each[1], f"from {name}: {each[2]}")
        return taken

    def add_key(self, name: str, key: str, value: Any, why: str) -> None:
        """Set a key, to what several entries ask for together if it is a list."""
        if isinstance(value, list) and key in self.keys:
            value = [*dict.fromkeys((*self.keys[key][0], *value))]
        self.keys[key] = (value, f"{name}: {why}")

    def words(self) -> list[str]:
        """Say what was taken over and what was not."""
        said = [f"taken over: {len(self.keys)} keys, {len(self.ignored)} [[ignore]]"]
        if self.left:
            said += ["not taken over:", *self.left]
        if self.ignored:
            said.append(
                "what they ignore is no longer reported: the review says `policy-weakened`, and asks a person"
            )
        return said


def first_policy(repository: Repository, taken: TakenOver) -> str:
    """Return the text of a first policy. Raises ConfigError if what was taken over does not fit, GitError."""
    listed = repository.git.run("ls-files", "-z").decode("utf-8", "surrogateescape")
    languages = filter(None, map(language_for, listed.split("\0")))
    found = Counter(FAMILY.get(each, each) for each in languages)
    offers = read_table("languages/first_policy.toml")
    hidden = {*taken.keys, "ignore" if taken.ignored else ""}
    lines = [HEAD]
    for language in ("any", *(each for each, _ in found.most_common() if each in offers)):
        lines += [f"# {language}:"] if language != "any" else []
        lines += [
            f"#{each}" for each in offers[language] if each.split(" =")[0] not in hidden
        ]
    for key, (value, why) in taken.keys.items():
        lines.append(f"{key} = {toml_value(value)}  # {printable(why)}")
    for (rule, pattern), reason in taken.ignored.items():
        pairs = {"rule": rule, "path": pattern, "reason": reason}
        lines += ["", "[[ignore]]"]
        lines += [f"{key} = {toml_value(value)}" for key, value in pairs.items()]
    text = "\n".join([*lines, ""]).encode("utf-8", "replace").decode()
    parse_config(parse_toml(text.encode(), FILE), FILE)
    return text


def allow_command(text: str, pattern: str, source: str) -> str:
    """Return a configuration with one more pattern in `[commands] allow`. Raises ConfigError if that is not certain."""
    quoted = '"' + pattern.replace("\\", "\\\\").replace('"', '\\"') + '"'
    section = COMMANDS.search(text)
    if section is None:
        after = f"{text.rstrip()}\n\n[commands]\nallow = [{quoted}]\n".lstrip()
    else:
        at = section.end()
        new = f"allow = [{quoted}]\n"
        following = TABLE.search(text, at)
        list_ = ALLOW.search(text, at, following.start() if following else len(text))
        if list_:
            at = list_.end()
            new = f"{quoted}, "
        after = text[:at] + new + text[at:]
    expected = allowed_patterns(text, source) | {pattern}
    try:
        is_certain = allowed_patterns(after, source) == expected
    except ConfigError:
        is_certain = False
    if not is_certain:
        raise ConfigError(
            f"{source}: write it there by hand: [commands] allow = [{quoted}]"
        )
    return after


def allowed_patterns(text: str, source: str) -> set[str]:
    config = parse_config(parse_toml(text.encode(), source), source)
    return {each.pattern for each in config.commands.allow}


def add_ignores(text: str, source: str, ignores: Mapping[Ignore, str]) -> str:
    """Return the text of a configuration with more `[[ignore]]` at its end. Raises ConfigError if that is not certain.

    `source` is the file that it is in: `cli-guard.toml` or `pyproject.toml`. Each entry comes with what it is about,
    for a reader, as a fingerprint says nothing.
    """
    table = "[[ignore]]" if source == FILE else "[[tool.cli-guard.ignore]]"
    end = "\r\n" if "\r\n" in text else "\n"
    lines: list[str] = []
    for each, about in ignores.items():
        pairs = each.model_dump(exclude_unset=True)
        lines += ["", table, f"# {about}"]
        lines += [f"{key} = {toml_value(pairs[key])}" for key in pairs]
    gap = end if text and not text.endswith("\n") else ""
    after = text + gap + end.join([*lines[0 if text else 1 :], ""])
    try:
        before = config_of(text, source)
        wanted = before.model_copy(update={"ignore": (*before.ignore, *ignores)})
        is_certain = config_of(after, source).model_dump() == wanted.model_dump()
    except ConfigError:
        is_certain = False
    if not is_certain:
        raise ConfigError(f"{source}: write it there by hand: {end.join(lines[1:])}")
    return after


def config_of(text: str, source: str) -> Config:
    """Return the configuration in the text of one file. Raises ConfigError."""
    raw = {source: text.encode("utf-8", "replace")} if text else {}
    found = read_config(raw.get, "")
    return found[0] if found else Config()

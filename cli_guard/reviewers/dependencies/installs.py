"""Read what commands install: `apt-get install xz-utils=5.6.1-1` in an image or a script names a package too."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache

from cli_guard.commands import Context, Setting
from cli_guard.commands.engine import walk
from cli_guard.commands.expand.fields import Field
from cli_guard.model import FileChange, Finding
from cli_guard.reviewers.commands.extract import Snippet, Unreadable, snippets
from cli_guard.reviewers.dependencies import names
from cli_guard.reviewers.dependencies.changes import NOTHING, DependencyChange
from cli_guard.reviewers.dependencies.incidents import known_bad
from cli_guard.reviewers.dependencies.judging import DependencyWorld, findings_of
from cli_guard.reviewers.dependencies.reading import Dependency, normalise
from cli_guard.rules.catalog import read_table
from cli_guard.words import split_identifiers

INSTALL = frozenset(("install", "add", "i"))
CONTEXT = Context(setting=Setting.CHANGE)
PACKAGE = re.compile(
    r"(?P<name>@?[\w./-]+?)(?:\[[^\]]*\])?(?:(?:={1,3}|[@:]|~=)v?(?P<spec>[\w.:+~-]+))?"
)
# What a package is not: an address, a path, a file.
NO_PACKAGE = re.compile(r"://|^[./~]|\.(?:txt|whl|tgz|gz|zip|deb|rpm|apk|git)$")


@cache
def installers() -> Mapping[str, str]:
    """Return the registry of each program that installs."""
    table: Mapping[str, str] = read_table("dependencies/settings.toml")["installers"]
    return {
        program: registry
        for registry, programs in table.items()
        for program in programs.split()
    }


@cache
def first_words() -> frozenset[str]:
    """Return the first identifier of each program that installs."""
    return frozenset(name.partition("-")[0] for name in installers())


def review_installs(world: DependencyWorld) -> Iterator[Finding]:
    """Yield what is known of the packages that the commands of a change install, and of names like popular ones."""
    locks = {each.path for each in world.differences if each.is_lock}
    for change in world.subject.changes:
        if not change.is_text or change.is_deleted:
            continue
        if change.path in locks:
            continue
        text = world.subject.text_at(change.path) if change.added else None
        if (
            not text
            or len(text) > world.subject.limits.file_chars
            or first_words().isdisjoint(split_identifiers(text))
        ):
            continue
        each = DependencyChange(change, NOTHING, NOTHING)
        for entry in find_installed(change, text):
            if advisory := known_bad(entry.ecosystem, entry.name, entry.spec):
                message = f"{f'{entry.name} {entry.spec}'.rstrip()}: {advisory}"
                yield from findings_of(each, "deps-known-bad", entry, message)
            elif similar := names.similar_name(entry.ecosystem, entry.name):
                message = f"{entry.name} is no known package, and its name resembles the popular {similar}"
                yield from findings_of(each, "deps-similar-name", entry, message)


def find_installed(change: FileChange, text: str) -> Iterator[Dependency]:
    """Yield the packages that added lines install and that no removed line named."""
    removed = "\n".join(change.removed.values())
    with suppress(Unreadable):
        for snippet in snippets(change.read_as or change.path, text):
            if not any(change.touches(line, line) for line in set(snippet.lines)):
                continue
            for word, ecosystem in _packages_of(snippet):
                line = snippet.line_at(word.span.start)
                written = word.text or ""
                if line in change.added and written not in removed:
                    yield from _entry_of(written, ecosystem, line)


def _entry_of(written: str, ecosystem: str, line: int) -> Iterator[Dependency]:
    found = PACKAGE.fullmatch(written)
    if found and not NO_PACKAGE.search(written):
        name = normalise(found["name"], ecosystem)
        yield Dependency(name, ecosystem, "", found["spec"] or "", line=line, last=line)


def _packages_of(snippet: Snippet) -> Iterator[tuple[Field, str]]:
    """Yield the words behind the command that installs, each with its registry."""
    for invocation in walk(snippet.text, CONTEXT).invocations:
        ecosystem = installers().get(invocation.program)
        words = iter(invocation.fields[1:])
        if ecosystem and any(word.text in INSTALL for word in words):
            # Those that are left stand behind it.
            for word in words:
                if word.text and not word.text.startswith("-"):
                    yield word, ecosystem

"""Read what commands install: `apt-get install xz-utils=5.6.1-1` in an image or a script names a package too."""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import takewhile

from cli_guard.commands.parse.syntax import parse
from cli_guard.commands.parse.tree import Word
from cli_guard.commands.plain import find_commands, plain_text
from cli_guard.model import FileChange, Finding
from cli_guard.reviewers.commands.extract import Snippet, Unreadable, snippets
from cli_guard.reviewers.dependencies import names
from cli_guard.reviewers.dependencies.changes import NOTHING, DependencyChange
from cli_guard.reviewers.dependencies.incidents import known_bad
from cli_guard.reviewers.dependencies.judging import DependencyWorld, findings_of
from cli_guard.reviewers.dependencies.reading import Dependency, normalise

# The word that installs, and the registry, by program.
INSTALLERS = {
    **dict.fromkeys(
        ("apt-get", "apt", "aptitude", "dnf", "yum", "microdnf", "zypper"), "system"
    ),
    **dict.fromkeys(("apk", "brew"), "system"),
    **dict.fromkeys(("pip", "pip3", "pipx", "uv", "poetry", "pdm"), "pypi"),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), "npm"),
    **{name: name for name in ("gem", "cargo", "go")},
}
INSTALL = frozenset(("install", "add", "i"))
# What runs the command behind it.
WRAPPERS = frozenset("sudo doas env exec command time nice python python3".split())
PROGRAM = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, INSTALLERS))})(?![\w-])")
PACKAGE = re.compile(
    r"(?P<name>@?[\w./-]+?)(?:\[[^\]]*\])?(?:(?:={1,3}|[@:]|~=)v?(?P<spec>[\w.:+~-]+))?"
)
# What a package is not: an address, a path, a file.
NO_PACKAGE = re.compile(r"://|^[./~]|\.(?:txt|whl|tgz|gz|zip|deb|rpm|apk|git)$")


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
            or not PROGRAM.search(text)
        ):
            continue
        each = DependencyChange(change, NOTHING, NOTHING)
        for entry in find_installed(change, text):
            if advisory := known_bad(entry.ecosystem, entry.name, entry.spec):
                message = f"{f'{entry.name} {entry.spec}'.rstrip()}: {advisory}"
                yield from findings_of(each, "deps-known-bad", entry, message)
            elif similar := names.similar_name(entry.ecosystem, entry.name):
                message = f"{entry.name} resembles {similar}, which is popular, and is not known itself"
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
                written = plain_text(word)
                if line in change.added and written not in removed:
                    yield from _entry_of(written, ecosystem, line)


def _entry_of(written: str, ecosystem: str, line: int) -> Iterator[Dependency]:
    found = PACKAGE.fullmatch(written)
    if found and not NO_PACKAGE.search(written):
        name = normalise(found["name"], ecosystem)
        yield Dependency(name, ecosystem, "", found["spec"] or "", line=line, last=line)


def _packages_of(snippet: Snippet) -> Iterator[tuple[Word, str]]:
    """Yield the words behind the command that installs, each with its registry."""
    for command in find_commands(parse(snippet.text)):
        texts = [plain_text(word) for word in command.words]
        wrapped = takewhile(lambda text: text in WRAPPERS or text.startswith("-"), texts)
        first = sum(1 for _ in wrapped)
        if first == len(texts) or _base_name(texts[first]) not in INSTALLERS:
            continue
        behind = range(first + 1, len(texts))
        start = next((at for at in behind if texts[at] in INSTALL), None)
        if start is None:
            continue
        for word, text in zip(command.words[start + 1 :], texts[start + 1 :], strict=True):
            if text and not text.startswith("-"):
                yield word, INSTALLERS[_base_name(texts[first])]


def _base_name(text: str) -> str:
    return text.rpartition("/")[2]

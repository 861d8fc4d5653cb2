"""What this room reads and answers with: files found by name, near the root first; commands, tests, advice."""

import re
import shlex
from collections.abc import Mapping
from functools import cached_property
from posixpath import splitext
from typing import Literal, get_args

from cli_guard.assistant.request_command import CommandPurpose
from cli_guard.lazy import frozen
from cli_guard.reviewers.commands.extract.json_nodes import read_json
from cli_guard.reviewers.commands.extract.nodes import Node
from cli_guard.reviewers.commands.extract.toml_nodes import read_toml
from cli_guard.reviewers.commands.extract.yaml_nodes import read_yaml
from cli_guard.secrets.redact import redact

# A file that says how to work on a project is a page, not a megabyte: what is beyond is not read.
FILE_CHARS = 100_000
# Deeper than this, or in one of these folders, a project is a fixture, a copy or an example of another one.
DEEPEST = 3
NOT_OURS = frozenset(
    "node_modules vendor _vendor vendored third_party thirdparty site-packages testdata fixtures fixture examples "
    "example samples templates template .git .venv venv dist".split()
)
# What is below these, but not in them, is what tests work on.
TEST_FOLDERS = ("test", "tests", "testing", "spec")
MOST_OF_A_NAME = 40
CLIP = 200
BLANKS = re.compile(r"\s+")
# What says that the command is one: a document, a task that is written down, a tool that is set up, what is run in
# continuous integration, or what is usual in such a project.
CommandOrigin = Literal["docs", "task", "configured", "ci", "convention"]
ORIGINS: tuple[CommandOrigin, ...] = get_args(CommandOrigin)

CoverStrength = Literal["strong", "medium", "weak"]
TestOutcome = Literal["passed", "failed", "not recorded"]


class ProjectFiles:
    """Texts by path, and the record of which of them were read."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self._read: dict[str, str] = {}
        self._documents: dict[str, tuple[Node, ...]] = {}

    @cached_property
    def by_name(self) -> Mapping[str, tuple[str, ...]]:
        """Return the paths of each file name in lower case, nearest the root first, without copies and examples."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.texts, key=nearness):
            *folders, name = path.split("/")
            of_a_test = len(folders) > 1 and folders[0] in TEST_FOLDERS
            if len(folders) <= DEEPEST and NOT_OURS.isdisjoint(folders) and not of_a_test:
                same = found.setdefault(name.lower(), [])
                if len(same) < MOST_OF_A_NAME:
                    same.append(path)
        return {name: tuple(paths) for name, paths in found.items()}

    def find_named(self, *names: str) -> tuple[str, ...]:
        """Return the paths of the files with one of these names (any case), nearest the root first."""
        found = (path for name in names for path in self.by_name.get(name.lower(), ()))
        return tuple(sorted(dict.fromkeys(found), key=nearness))

    def find_like(self, pattern: str | re.Pattern[str]) -> tuple[str, ...]:
        """Return the paths whose file name in lower case matches the whole pattern, nearest the root first."""
        return self.find_named(
            *(name for name in self.by_name if re.fullmatch(pattern, name))
        )

    def read(self, path: str) -> str:
        """Return the text of a file, empty if it is not there."""
        if path not in self._read:
            self._read[path] = self.texts.get(path, "")[:FILE_CHARS]
        return self._read[path]

    def document(self, path: str) -> tuple[Node, ...]:
        """Return the nodes of a TOML, JSON or YAML file as far as it can be read, parsed once."""
        if path not in self._documents:
            reader = {".toml": read_toml, ".json": read_json, ".jsonc": read_json}.get(
                splitext(path)[1], read_yaml
            )
            self._documents[path] = reader(path, self.read(path)).roots
        return self._documents[path]

    def has(self, *paths: str) -> bool:
        """Return whether one of the paths is a file."""
        return any(path in self.texts for path in paths)

    @cached_property
    def folders(self) -> frozenset[str]:
        """Return every folder that holds a file, at any depth."""
        found = set()
        for path in self.texts:
            folder = folder_of(path)
            while folder and folder not in found:
                found.add(folder)
                folder = folder_of(folder)
        return frozenset(found)

    @property
    def looked_at(self) -> tuple[str, ...]:
        """Return the paths that were read, sorted by nearness to the root."""
        return tuple(sorted(filter(self._read.get, self._read), key=nearness))


def nearness(path: str) -> tuple[int, str]:
    """Return the order of paths: nearest the root first."""
    return path.count("/"), path


def folder_of(path: str) -> str:
    """Return the folder of a path, empty for the root."""
    return path.rpartition("/")[0]


def find_above(texts: Mapping[str, str], path: str, name: str) -> str | None:
    """Return the nearest file of a name beside a path or in a folder above it."""
    folder = folder_of(path)
    while folder and f"{folder}/{name}" not in texts:
        folder = folder_of(folder)
    found = f"{folder}/{name}".lstrip("/")
    return found if found in texts else None


def within(folder: str, command: str) -> str:
    """Return the command as it is typed at the root to run in a folder."""
    return f"cd {shlex.quote(folder)} && {command}" if folder else command


def clip_line(text: str, path: str) -> str:
    """Return a piece of a file as one line to show: blanks made one, secrets masked, clipped."""
    # Masking comes before clipping, or the rest of a secret might no longer be known as one.
    line = redact(BLANKS.sub(" ", text[: CLIP * 20]).strip(), path)
    return line if len(line) <= CLIP else line[: CLIP - 3].rstrip() + "..."


def line_at(text: str, found: re.Match[str]) -> int:
    """Return the number of the line that a match begins on."""
    return text.count("\n", 0, found.start()) + 1


def line_of(text: str, pattern: str, start: int = 0) -> int:
    """Return the number of the line on which the first match of a pattern begins, 1 if there is none."""
    found = re.compile(pattern, re.MULTILINE).search(text, start)
    return line_at(text, found) if found else 1


@frozen
class FoundCommand:
    """A command as a file of the repository gives it, before it is classified, masked and clipped.

    `body` is what it runs. `purpose` is given where the file says it by what it is; else name and body say it.
    `rank` orders commands of one purpose and origin: less is better.
    """

    command: str
    path: str
    line: int
    body: str = ""
    name: str = ""
    origin: CommandOrigin = "task"
    purpose: CommandPurpose | None = None
    rank: int = 0


@frozen
class ProjectCommand:
    """A command that the files of a repository offer.

    `command` can be pasted at the root of the repository. `path` and `line` (from 1) are where it is defined,
    `detail` what it runs, on one line, redacted and clipped. `name` is the name of the target, script or task, empty
    for a command that has none. `documented` is the place where a document for contributors tells people to run it.
    """

    purpose: CommandPurpose
    command: str
    path: str
    line: int
    detail: str = ""
    name: str = ""
    origin: CommandOrigin = "task"
    documented: tuple[str, int] | None = None


@frozen
class CommandPart:
    """A part of a command, and what it does."""

    text: str
    meaning: str


@frozen
class CommandAdvice:
    """The command that a request asks for, as text: nothing has been run.

    `command` is None if the files name none; `looked_at` names the files that were read, whatever the answer.
    `setup` is what has to be run once before, if the repository says so. `assumed` says what the request left open.
    `note` is a word on what the command does that a name alone does not say (a Git recipe has one).
    """

    command: str | None
    source: tuple[str, int] | None
    purpose: CommandPurpose
    parts: tuple[CommandPart, ...] = ()
    alternatives: tuple[ProjectCommand, ...] = ()
    setup: str | None = None
    assumed: str | None = None
    looked_at: tuple[str, ...] = ()
    note: str | None = None


@frozen
class CoveringTest:
    """A test file, the names of those of its tests that matter (all that it has if none is singled out), and why."""

    path: str
    names: tuple[str, ...]
    reason: str
    strength: CoverStrength


@frozen
class Covering:
    """The tests for some paths and symbols, strongest first.

    `command` runs exactly these, None if there are none or no known program runs them. `uncovered` are the paths no
    test was found for, `looked_at` is the number of files that were searched, `left_out` the number of weaker tests
    beyond the bound. `note` names what a bound cut, empty if nothing.
    """

    tests: tuple[CoveringTest, ...]
    command: str | None
    uncovered: tuple[str, ...]
    looked_at: int
    left_out: int = 0
    note: str = ""


@frozen
class Simulated:
    """What a test command would select, and what was recorded of it; nothing was run.

    `status` is "passed" only if an outcome is recorded for every selected test and none of them failed.
    """

    command: str
    status: TestOutcome
    selected: int = 0
    text: str = ""

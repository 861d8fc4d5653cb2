"""The texts that a plan is made from, within bounds, and the edits that make new texts of them."""

import ast
import bisect
import difflib
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from posixpath import basename

from cli_guard.assistant.replies import count_of, first_of
from cli_guard.code.definitions import is_parseable
from cli_guard.code.languages import GRAMMARS, language_for, language_of
from cli_guard.code.syntax import Trees
from cli_guard.model import Skipped

SHOWN_PATHS = 8
# A longer file is data or generated: it is searched as text and not parsed.
PARSED_CHARS = 1_000_000
# How much is searched for one request; to parse and read a character takes as long as to search this many.
MOST_CHARS = 400_000_000
PARSING = 50
DOCUMENTATION = frozenset({".md", ".rst", ".txt", ".adoc", ".mdx", ""})
CONFIGURATION = frozenset(
    ".toml .cfg .ini .json .yml .yaml .xml .properties .gradle .kts .lock .mod".split()
)
LINE_END = re.compile(r"\r\n?|\n")


class LineMap:
    """Lines of a text (from 1) to positions in characters and back."""

    def __init__(self, text: str) -> None:
        self._size = len(text)
        # A byte order mark is no part of the first line.
        first = int(text.startswith("\ufeff"))
        self._starts = [first, *(m.end() for m in LINE_END.finditer(text))]

    def line_of(self, position: int) -> int:
        return max(1, bisect.bisect_right(self._starts, position))

    def start_of(self, line: int) -> int:
        """Return the position where a line begins; the end of the text for a line beyond it."""
        return self._starts[line - 1] if line <= len(self._starts) else self._size


class Sources:
    """The files of one request. Raises nothing: what cannot be read is in `skipped`."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = {path: texts[path] for path in sorted(texts)}
        self._problems: dict[str, str] = {}
        self._lines: dict[str, LineMap] = {}
        self._skipped: dict[str, Skipped] = {}
        self.late: set[str] = set()
        self._left = MOST_CHARS
        self.trees = Trees()

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Return what was not looked at, and why, by path."""
        return tuple(self._skipped[path] for path in sorted(self._skipped))

    def skip(self, path: str, reason: str) -> None:
        """Note a file that a bound left out."""
        self._skipped.setdefault(path, Skipped(path, reason, asks=True))

    def spend(self, path: str, effort: int = 1) -> bool:
        """Return whether the bound of the work lets a file be looked at, and count it; if not, note it as left out."""
        cost = effort * len(self.texts[path])
        if cost <= self._left:
            self._left -= cost
            return True
        self.late.add(path)
        self.skip(path, "not looked at: there is too much text")
        return False

    def mentioning(self, word: str, language: str | None = None) -> Iterator[str]:
        """Yield the paths whose text holds `word`, in order; of one language if named."""
        for path, text in self.texts.items():
            if (
                word in text
                and (language is None or self.language(path) == language)
                and self.spend(path)
            ):
                yield path

    def language(self, path: str) -> str | None:
        """Return the grammar of a file; None for one that is not parsed."""
        if path.endswith(".rs"):
            return "rust"
        found = language_of(path, self.texts.get(path, "")[:120].split("\n", 1)[0])
        return found if found in GRAMMARS else None

    def is_valid(self, path: str) -> bool:
        """Return whether a file is valid Python; one that is not is skipped."""
        text = self.texts[path]
        if self.language(path) != "python" or (
            text not in self._problems and not self.spend(path, PARSING)
        ):
            return False
        problem = self.problem_with(text)
        if problem:
            self.skip(path, problem)
        return not problem

    def problem_with(self, text: str) -> str:
        """Return why a text is not valid Python, "" if it is."""
        if text not in self._problems:
            found = parse_python(text)
            self._problems[text] = found if isinstance(found, str) else ""
        return self._problems[text]

    def lines(self, path: str) -> LineMap:
        if path not in self._lines:
            self._lines[path] = LineMap(self.texts[path])
        return self._lines[path]

    def line(self, path: str, position: int) -> int:
        return self.lines(path).line_of(position)

    def line_text(self, path: str, number: int) -> str:
        lines = self.lines(path)
        return self.texts[path][lines.start_of(number) : lines.start_of(number + 1)].rstrip(
            "\r\n"
        )


def is_configuration(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() in CONFIGURATION


def is_documentation(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() in DOCUMENTATION


def parse_python(text: str) -> ast.Module | str:
    """Return the syntax of a Python text, or why there is none."""
    if len(text) > PARSED_CHARS:
        return f"longer than {PARSED_CHARS:,} characters: its syntax was not read"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.removeprefix("\ufeff"))
    except (RecursionError, MemoryError):
        return "nested too deeply: its syntax was not read"
    except SyntaxError as error:
        return f"not valid Python: {error.msg} (line {error.lineno})"
    except ValueError:
        return "not valid Python: it holds characters that no source may hold"


@dataclass(frozen=True, slots=True)
class NamedPath:
    """The file a request means; "" if there is none, and then what is near. `assumed` if it could be another."""

    path: str
    assumed: str | None = None
    missing: str = ""


def find_path(sources: Sources, name: str) -> NamedPath:
    """Return the file that `name` means: whole, by the end of its path, or without its ending."""
    clean = name.strip("`'\"").removeprefix("./")
    if clean in sources.texts:
        return NamedPath(clean)
    fits = [p for p in sources.texts if p.endswith(f"/{clean}")]
    if not fits:
        dotted = clean.replace(".", "/") if "/" not in clean else clean
        ends = (f"/{clean}", f"/{dotted}")
        fits = [
            p
            for p in sources.texts
            if f"/{PurePosixPath(p).with_suffix('')}".endswith(ends)
        ]
        fits += [p for p in sources.texts if f"/{p}".endswith(f"/{dotted}/__init__.py")]
    if fits:
        first = min(fits, key=lambda p: (p.count("/"), p))
        others = [p for p in fits if p != first]
        note = f"{name} is {first}; not taken: {', '.join(others[:5])}" if others else None
        return NamedPath(first, note)
    return NamedPath("", None, name + name_near_paths(clean, sources.texts))


def name_near_paths(path: str, known: Iterable[str]) -> str:
    """Name the known paths that a wrong one may mean: of the same name, else spelled alike."""
    paths = sorted(known)
    name = basename(path).lower()
    same = [each for each in paths if basename(each).lower() == name]
    return list_near(same[:5] or difflib.get_close_matches(path, paths[:20_000], 3, 0.7))


def list_near(names: Sequence[str]) -> str:
    """Return the end of a sentence about what is not there."""
    return f"; near: {', '.join(names)}" if names else ""


@dataclass(frozen=True, slots=True, order=True)
class TextEdit:
    """Puts `text` in the place of characters `start` to `end` of a file."""

    path: str
    start: int
    end: int
    text: str


def apply_edits(sources: Sources, edits: Iterable[TextEdit]) -> dict[str, str]:
    """Return the new text of each edited file. Edits that overlap an earlier one are left out."""
    by_path: dict[str, list[TextEdit]] = {}
    for edit in sorted(set(edits)):
        by_path.setdefault(edit.path, []).append(edit)
    changes = {}
    for path, found in by_path.items():
        text = sources.texts.get(path, "")
        pieces = []
        at = 0
        for edit in found:
            if edit.start >= at:
                pieces += [text[at : edit.start], edit.text]
                at = edit.end
        new = "".join((*pieces, text[at:]))
        if new != text:
            changes[path] = new
    return changes


def find_syntax_errors(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Return where a file does not parse that did before, or was not there."""
    found = ((path, find_syntax_error(path, text)) for path, text in new.items())
    return [
        f"{path}: {error}"
        for path, error in found
        if error and not find_syntax_error(path, old.get(path, ""))
    ]


def find_syntax_error(path: str, text: str) -> str:
    """Return why a text does not parse, "" if it does, or if no grammar is there to tell."""
    language = language_for(path, text)
    if language == "python":
        tree = parse_python(text)
        return tree if isinstance(tree, str) else ""
    if language in GRAMMARS and is_parseable(text):
        with suppress(ValueError):
            broken = Trees().root(language, text).find(kind="ERROR")
            if broken:
                return f"not valid {language} (line {broken.range().start.line + 1})"
    return ""


def join_some(paths: Sequence[str], most: int = SHOWN_PATHS) -> str:
    return first_of(list(dict.fromkeys(paths)), most)


def list_first(lines: Sequence[str], most: int, noun: str) -> list[str]:
    """Return the first lines, and how many more there are."""
    rest = len(lines) - most
    return [
        *lines[:most],
        *([f"... and {count_of(rest, f'more {noun}')}"] if rest > 0 else []),
    ]

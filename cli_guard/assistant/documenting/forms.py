"""In which form a file is to be documented: by its own comments, its neighbours' and the settings of the project."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from cli_guard.assistant.documenting.python_text import Form
from cli_guard.assistant.documenting.sources import LANGUAGES, Source, read_source
from cli_guard.code.symbols import Symbol, is_test
from cli_guard.code.syntax import Trees
from cli_guard.model import Skipped
from cli_guard.reviewers.docs.documented import read_docstring
from cli_guard.reviewers.docs.styles import style_of
from cli_guard.reviewers.docs.wording import VERBS, third_person

NEIGHBOURS = 8
SAMPLE = 40
LARGEST = 200_000
NARROWEST, WIDEST = 60, 160
SETTINGS = (
    "pyproject.toml",
    "ruff.toml",
    ".ruff.toml",
    "setup.cfg",
    "tox.ini",
    ".flake8",
    ".editorconfig",
    ".pylintrc",
)
WIDTH = re.compile(
    r"^[ \t]*(?:line-length|line_length|max-line-length|max_line_length)\s*=\s*(\d{2,3})\b", re.M
)
CONVENTION = re.compile(r"""^[ \t]*convention\s*=\s*["']?(google|numpy|pep257)\b""", re.M)
DEFAULT_WIDTH = 88


class Forms:
    """The forms of the files of one repository; what tells them is read once."""

    def __init__(self, texts: Mapping[str, str], trees: Trees) -> None:
        self._texts = texts
        self._trees = trees
        self._families: dict[str, list[str]] = {}
        self._documented: dict[str, list[Symbol]] = {}
        self._width = _setting(texts, WIDTH)
        self._convention = _setting(texts, CONVENTION)

    def of(self, source: Source, asked: str = "") -> Form:
        """The form of a file's documentation. `asked` is a style that the request names."""
        others = list(islice(self._neighbours(source), SAMPLE))
        style = style_of(source.language, source.symbols, others)
        documented = [s.doc.text for s in (*source.symbols, *others) if s.doc is not None][:SAMPLE]
        if source.language == "python":
            sectioned = any(read_docstring(text).style for text in documented)
            if asked:
                style = replace(style, sections=asked)
            elif self._convention in ("google", "numpy") and not sectioned:
                style = replace(style, sections=self._convention)
        single = sum(bool(re.search(r"(?<!`)`[^`\n]+`(?!`)", text)) for text in documented)
        double = sum("``" in text for text in documented)
        by_style = style.sections in ("numpy", "sphinx")
        return Form(
            style=style,
            width=self._width_of(source),
            double=double > single or (by_style and double == single),
            third=_third_person(documented),
        )

    def _neighbours(self, source: Source) -> Iterator[Symbol]:
        """The documented symbols of the files next to a file, where its own are too few to tell a style."""
        if sum(s.doc is not None for s in source.symbols) >= SAMPLE:
            return
        folder, top = source.path.rpartition("/")[0], source.path.split("/")[0]
        family = [path for path in self._family(source.language) if path != source.path]
        near = [path for path in family if path.rpartition("/")[0] == folder]
        chosen = near[:NEIGHBOURS] or [path for path in family if path.split("/")[0] == top][:NEIGHBOURS]
        for path in chosen or family[:NEIGHBOURS]:
            yield from self._of_file(path)

    def _family(self, language: str) -> list[str]:
        if language not in self._families:
            suffixes = tuple(suffix for suffix, own in LANGUAGES.items() if own == language)
            found = sorted(path for path in self._texts if path.endswith(suffixes))
            self._families[language] = [p for p in found if not is_test(p) and len(self._texts[p]) < LARGEST]
        return self._families[language]

    def _of_file(self, path: str) -> list[Symbol]:
        if path not in self._documented:
            other = read_source(path, self._texts[path], self._trees)
            symbols = () if isinstance(other, Skipped) else other.symbols
            self._documented[path] = [s for s in symbols if s.doc is not None]
        return self._documented[path]

    def _width_of(self, source: Source) -> int:
        if self._width:
            return min(max(int(self._width), NARROWEST), WIDEST)
        lengths = sorted(len(line.rstrip()) for line in source.lines)
        longest = lengths[int(len(lengths) * 0.99)] if lengths else 0
        return min(max(longest, 79), DEFAULT_WIDTH)


def _setting(texts: Mapping[str, str], pattern: re.Pattern[str]) -> str:
    for name in SETTINGS:
        match = pattern.search(texts.get(name, "")[:200_000])
        if match:
            return match[1]
    return ""


def _third_person(documented: list[str]) -> bool:
    verbs = [m[1].lower() for m in (re.match(r"""[rRuU]?["'/*\s]+([A-Za-z]+)""", t) for t in documented) if m]
    third = sum(
        v not in VERBS and any(third_person(f"{base}.") == f"{v}." for base in _bases(v)) for v in verbs
    )
    return third > sum(v in VERBS for v in verbs)


def _bases(verb: str) -> list[str]:
    return [verb[:-1], verb[:-2], f"{verb[:-3]}y"] if verb.endswith("s") else []

"""What a request names: paths that are there, that are missing, that lead out, and the names of things in code."""

import posixpath
import re
from collections.abc import Collection, Iterable
from functools import cached_property

from cli_guard.assistant.request_words import pattern, word_set
from cli_guard.graph.state import CONTROL
from cli_guard.lazy import frozen

WORD_CHARS = 1_000
# A path is found by its last parts up to this many; nobody writes more of them.
PARTS = 8
AROUND = "`'\"()[]{}<>,;!?*“”‘’…|"
LINE = pattern("line")
URL = pattern("url")
# Home folders, drives, shares, and variables that hold such a place.
AWAY = pattern("away")
# `/api/users` is a route: a system folder or a file ending tells a path.
ROOTS = word_set("names", "roots")
ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9_]{0,9}$")
IDENTIFIER = pattern("identifier")
CODE_NAME = pattern("code_name")
# An attribute of a thing in code rather than a file: `self.go`.
OWNERS = frozenset("self this cls os sys np pd".split())
# What a file is imported as is its folder's name.
PACKAGE_FILES = ("__init__", "mod", "index")
# What a new file stands after: `move a.py to b.py`, `create b.py`.
BEFORE_NEW = frozenset("to into named called create creating adding new make touch".split())
BEFORE_FOLDER = frozenset(
    "in under of inside from within folder directory dir package for".split()
)
FOLDER_WORDS = frozenset("folder directory dir package tree".split())
BETWEEN = frozenset("the a an file module".split())
SCAN = pattern("scan")


@frozen
class Names:
    """What a request names, each in the order of the request and once.

    `paths` are known ones; a folder stands for its files, sorted. `missing` are words that can only be a path and lead
    nowhere; `created` are such words where the request wants a new file to be (`move a.py to b.py`). `outside` are
    paths that leave the repository. `ambiguous` are names that several known paths could be, with those paths.
    """

    paths: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    created: tuple[str, ...] = ()
    ambiguous: tuple[tuple[str, tuple[str, ...]], ...] = ()


NO_NAMES = Names()


def find_names(request: str, known: Collection[str]) -> Names:
    """Find what a request names among known paths, in time proportional to its length and their number."""
    finder = NameFinder(known)
    pieces = [
        (match.lastgroup or "", match[0])
        for match in SCAN.finditer(CONTROL.sub("", request))
    ]
    plain = [
        text.strip(AROUND).casefold() if form == "word" else "" for form, text in pieces
    ]
    for at, (form, text) in enumerate(pieces):
        before = plain[at - 1] if at else ""
        if before in BETWEEN and at > 1:
            before = plain[at - 2]
        after = plain[at + 1] if at + 1 < len(plain) else ""
        if form == "word":
            finder.read_word(text, before, after)
        elif form != "fence":
            finder.read_quoted(text[1:-1].strip(), before, after, in_code=form == "code")
    missing = (path for path in finder.missing if path not in finder.created)
    return Names(
        tuple(finder.paths),
        tuple(missing),
        tuple(finder.outside),
        tuple(finder.symbols),
        tuple(finder.created),
        tuple(finder.ambiguous.items()),
    )


class NameFinder:
    """Collects the names of a request word by word; a dictionary keeps their order and drops what comes twice."""

    def __init__(self, known: Collection[str]) -> None:
        self.known = frozenset(known)
        self.paths: dict[str, None] = {}
        self.missing: dict[str, None] = {}
        self.created: dict[str, None] = {}
        self.outside: dict[str, None] = {}
        self.symbols: dict[str, None] = {}
        self.ambiguous: dict[str, tuple[str, ...]] = {}

    def read_word(self, word: str, before: str, after: str) -> None:
        """Return a word between others."""
        plain = (
            word.isascii() and word.isalpha() and word.islower() and word not in self.known
        )
        # Most words of a long request are no path and no name.
        if plain and before not in BEFORE_FOLDER and after not in FOLDER_WORDS:
            return
        if not self.add_path(word, before, after):
            self.add_symbol(word, quoted=False)

    def read_quoted(self, text: str, before: str, after: str, *, in_code: bool) -> None:
        """Return a quotation: a path, a name, or a text in which only paths that are there count."""
        if text in self.known or " " not in text:
            if text and not self.add_path(text, before, after, in_code=in_code):
                self.add_symbol(text, quoted=True)
            return
        for word in text.split():
            if word.strip(AROUND) in self.known:
                self.add_path(word, "", "")

    def add_path(self, raw: str, before: str, after: str, *, in_code: bool = False) -> bool:
        """Add a word that is a path, whether it exists or not; return whether it is one."""
        word = raw if raw in self.known else raw.strip(AROUND).removeprefix("@")
        if not word or (len(word) > WORD_CHARS and word not in self.known):
            return False
        if AWAY.match(word):
            self.outside[word.rstrip(".:")] = None
            return True
        if URL.match(word):
            return True
        in_folder = in_code or before in BEFORE_FOLDER or after in FOLDER_WORDS
        bare = word.rstrip(".:").removesuffix("'s").removesuffix("’s")
        readings = (word, bare, LINE.sub("", bare))
        for reading in dict.fromkeys(readings):
            found = self.find(reading, in_folder=in_folder, quoted=in_code)
            if found is not None:
                self.paths.update(dict.fromkeys(found))
                return True
        flat = readings[-1].replace("\\", "/")
        if leads_outside(flat):
            self.outside[readings[-1]] = None
        elif is_path(readings[-1]) and not (
            "/" not in flat and flat.split(".")[0] in OWNERS
        ):
            (self.created if before in BEFORE_NEW else self.missing)[
                flat.removeprefix("./")
            ] = None
        else:
            return False
        return True

    def find(self, word: str, *, in_folder: bool, quoted: bool) -> list[str] | None:
        """Return the known paths that a word names; none of several that it could be; None where it names no path."""
        flat = word if word in self.known else word.replace("\\", "/")
        if flat in self.known:
            return [flat]
        slashed = "/" in flat
        flat = posixpath.normpath(flat) if slashed else flat
        if flat.lstrip("/").split("/")[0].casefold() not in ROOTS:
            flat = flat.lstrip("/")
        if flat in self.known:
            return [flat]
        if flat in ("", ".", ".."):
            return None
        if (
            (slashed or in_folder)
            and not ENDING.search(flat)
            and (files := self.folders.get(flat))
        ):
            return files
        has_ending = ENDING.search(flat) is not None
        if word.startswith("./"):
            return None
        found = (
            self.ends.get(flat, [])
            if slashed or quoted or has_ending or flat[:1].isupper()
            else []
        )
        if not found and not slashed and (has_ending or (flat.isupper() and len(flat) > 3)):
            found = self.find_module(flat)
        if len(found) > 1:
            self.ambiguous.setdefault(word, tuple(found))
            return []
        return found or None

    def find_module(self, dotted: str) -> list[str]:
        """Return the files of `package.module`, also with a name of it behind; README is a module of the top folder."""
        parts = dotted.removesuffix("()").replace("::", ".").split(".")
        for size in range(len(parts), max(0, len(parts) - 3), -1):
            if (
                size == 1
                and len(parts) > 1
                and (len(parts) > 2 or len(parts[0]) < 3 or not parts[0].islower())
            ):
                break
            found = [
                path
                for path in self.stems.get("/".join(parts[:size]), ())
                if "/" in path or size == 1
            ]
            # Those with the fewest folders above; a test is not what a module's name means.
            found = [
                path for path in found if not posixpath.basename(path).startswith("test_")
            ]
            least = min((path.count("/") for path in found), default=0)
            if found and (len(parts) > 1 or least == 0):
                if size < len(parts):
                    self.symbols[".".join(parts[size:])] = None
                return [path for path in found if path.count("/") == least]
        return []

    @cached_property
    def folders(self) -> dict[str, list[str]]:
        """Return the files under each folder."""
        return collect((path, parts[:-1], False) for path, parts in self.parts)

    @cached_property
    def ends(self) -> dict[str, list[str]]:
        """Return the files that end in some parts: `login.py`, `auth/login.py`."""
        return collect((path, parts, True) for path, parts in self.parts)

    @cached_property
    def stems(self) -> dict[str, list[str]]:
        """Return the files by what they are imported as: `auth/login`, a package by its folder."""
        stems = []
        for path, parts in self.parts:
            stem = parts[-1].rpartition(".")[0] or parts[-1]
            stems.append(
                (path, parts[:-1] if stem in PACKAGE_FILES else [*parts[:-1], stem], True)
            )
        return collect(stems)

    @cached_property
    def parts(self) -> list[tuple[str, list[str]]]:
        """Return the known paths with their parts, sorted."""
        return [(path, path.split("/")) for path in sorted(self.known)]

    def add_symbol(self, text: str, *, quoted: bool) -> None:
        """Add an identifier; a plain word is one only in backticks or quotes, or in the form of code."""
        name = text.strip(AROUND).rstrip(".:").split("(")[0]
        if not IDENTIFIER.fullmatch(name) or name.casefold() in word_set("names", "brands"):
            return
        called = re.search(r"\w\(", text) is not None
        if quoted or called or "." in name or "::" in name or CODE_NAME.fullmatch(name):
            self.symbols[name] = None


def collect(named: Iterable[tuple[str, list[str], bool]]) -> dict[str, list[str]]:
    """Return paths by the first parts of a name, or by its last ones: up to 8 of them."""
    table: dict[str, list[str]] = {}
    for path, parts, from_end in named:
        for size in range(1, min(len(parts), PARTS) + 1):
            table.setdefault(
                "/".join(parts[-size:] if from_end else parts[:size]), []
            ).append(path)
    return table


def is_path(word: str) -> bool:
    """Return whether a word can only be a path: a folder and an ending, or an ending of source files."""
    if word.startswith("-") or not re.fullmatch(r"[\w.@+/\-\\ ]+", word):
        return False
    base = word.replace("\\", "/").rsplit("/", 1)[-1]
    if not ENDING.search(base) or base.startswith("."):
        return word.startswith(("./", "../")) or (base.startswith(".") and "/" in word)
    ending = base.rsplit(".", 1)[-1].casefold()
    return "/" in word or (
        ending in word_set("names", "endings")
        and base.casefold() not in word_set("names", "brands")
    )


def leads_outside(flat: str) -> bool:
    """Return whether a word names a place outside of the repository."""
    parts = [part for part in flat.split("/") if part not in ("", ".")]
    if not flat.startswith("/") or not parts:
        return "/" in flat and posixpath.normpath(flat).split("/")[0] == ".."
    return (
        parts[0].casefold() in ROOTS
        or parts[0] == ".."
        or (len(parts) > 1 and bool(ENDING.search(parts[-1])))
    )

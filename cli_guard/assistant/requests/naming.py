"""What a request names: paths that are there, that are missing, that lead out, and the names of things in code."""

import posixpath
import re
from collections.abc import Collection
from dataclasses import dataclass, field

from cli_guard.assistant.requests.model import Targets
from cli_guard.assistant.requests.places import Places
from cli_guard.assistant.requests.shapes import (
    AROUND,
    CODE_NAME,
    ENDING,
    IDENTIFIER,
    LINE,
    LINE_WORD,
    LOCAL_URL,
    ROOTS,
    URL,
    WORD_CHARS,
    is_outside,
    is_path,
)
from cli_guard.assistant.requests.tables import tables
from cli_guard.assistant.requests.text import SCRIPT
from cli_guard.graph.state import CONTROL

# What a new file stands after: `move a.py to b.py`, `create b.py`.
LEADS_TO_NEW = frozenset(
    "to into as named called create creating add adding new make write touch nach als neu neue neuen vers en nouveau "
    "nuevo a in".split()
)
SURELY_NEW = LEADS_TO_NEW - frozenset(("a", "in", "en", "add", "write", "as"))
LEADS_TO_FOLDER = frozenset(
    "in under of inside from within folder directory dir package for im unter dans sous".split()
)
FOLDER_WORDS = frozenset("folder directory dir package tree ordner verzeichnis dossier carpeta".split())


@dataclass
class _Found:
    """Collects what was found; a dictionary keeps order and drops what comes twice."""

    paths: dict[str, None] = field(default_factory=dict)
    missing: dict[str, None] = field(default_factory=dict)
    outside: dict[str, None] = field(default_factory=dict)
    symbols: dict[str, None] = field(default_factory=dict)
    lines: dict[tuple[str, int], None] = field(default_factory=dict)
    quoted: dict[str, None] = field(default_factory=dict)
    folders: dict[str, None] = field(default_factory=dict)
    created: dict[str, None] = field(default_factory=dict)
    ambiguous: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def done(self) -> Targets:
        return Targets(
            paths=tuple(self.paths),
            missing=tuple(path for path in self.missing if path not in self.created),
            outside=tuple(self.outside),
            symbols=tuple(self.symbols),
            lines=tuple(self.lines),
            quoted=tuple(self.quoted),
            folders=tuple(self.folders),
            created=tuple(self.created),
            ambiguous=tuple(self.ambiguous.items()),
        )


class _Namer:
    """Reads the words of a request one by one."""

    def __init__(self, known: Collection[str]) -> None:
        self.places = Places(known)
        self.found = _Found()

    def word(self, raw: str, before: str, after: str, *, quoted: bool = False) -> bool:
        """Files a word under what it names. Answers whether it is a path, there or not."""
        word = raw if raw in self.places.known else raw.strip(AROUND).removeprefix("@")
        if not word or (len(word) > WORD_CHARS and word not in self.places.known):
            return False
        if URL.match(word):
            local = LOCAL_URL.match(word)
            if local:
                self.found.outside[word] = None
            return True
        for candidate, line in self._readings(word):
            if self._there(candidate, line, before, after, quoted=quoted):
                return True
        candidate, _ = self._readings(word)[-1]
        if is_outside(candidate):
            self.found.outside[candidate] = None
            return True
        if is_path(candidate) and not self._attribute(candidate):
            flat = candidate.replace("\\", "/").removeprefix("./")
            new = before in SURELY_NEW
            (self.found.created if new else self.found.missing)[flat] = None
            return True
        return False

    def _readings(self, word: str) -> list[tuple[str, int]]:
        """A word as it stands, without the full stop behind it, and without a line number."""
        readings = [(word, 0)]
        bare = word.rstrip(".:").removesuffix("'s").removesuffix("’s").rstrip("`'\"")
        if bare != word and bare:
            readings.append((bare, 0))
        match = LINE.search(bare)
        if match and match.start():
            readings.append((bare[: match.start()], int(match["first"] or match["paren"])))
        return readings

    def _there(self, word: str, line: int, before: str, after: str, *, quoted: bool) -> bool:
        """Files a word that names known paths."""
        flat = word if word in self.places.known else word.replace("\\", "/")
        slashed = flat.endswith("/")
        if flat not in self.places.known:
            flat = posixpath.normpath(flat) if "/" in flat else flat
            flat = flat.lstrip("/") if flat.lstrip("/").split("/")[0].casefold() not in ROOTS else flat
        if flat in self.places.known:
            return self._add(flat, line)
        if flat in ("", ".", ".."):
            return False
        if "/" in flat or slashed or quoted or (before in LEADS_TO_FOLDER or after in FOLDER_WORDS):
            files = self.places.files_of(flat)
            if files and not ENDING.search(flat):
                self.found.folders[flat] = None
                self.found.paths.update(dict.fromkeys(files))
                return True
        if (
            "/" in flat
            or ENDING.search(flat)
            or quoted
            or (flat[:1].isupper() and len(flat) > 3)
            or flat.startswith(".")
        ):
            return self._one_of(word, self._called(flat), line)
        return False

    def _called(self, flat: str) -> list[str]:
        named = self.places.named(flat)
        if named or "/" in flat:
            return named
        if "." in flat or (flat.isupper() and len(flat) > 3):
            return self._module(flat)
        return []

    def _module(self, dotted: str) -> list[str]:
        """The files of `package.module`, also with a name of it behind: `package.module.function`."""
        parts = dotted.removesuffix("()").split(".")
        if len(parts) == 1:
            return [path for path in self.places.module(dotted) if "/" not in path]
        for size in range(len(parts), max(0, len(parts) - 3), -1):
            found = self.places.module(".".join(parts[:size])) if size > 1 or len(parts) == 2 else []
            if size == 1 and (len(parts[0]) < 3 or not parts[0].islower()):
                break
            if found:
                if size < len(parts):
                    self.found.symbols[".".join(parts[size:])] = None
                return found
        return []

    def _attribute(self, word: str) -> bool:
        """Is `word` an attribute of a thing in code rather than a file: `self.go`?"""
        return "/" not in word and word.split(".")[0] in ("self", "this", "cls", "os", "sys", "np", "pd")

    def _one_of(self, word: str, paths: list[str], line: int) -> bool:
        if len(paths) == 1:
            return self._add(paths[0], line)
        if paths:
            self.found.ambiguous.setdefault(word, tuple(paths))
        return bool(paths)

    def _add(self, path: str, line: int) -> bool:
        self.found.paths[path] = None
        if line:
            self.found.lines[path, line] = None
        return True

    def line_word(self, number: str) -> None:
        """`line 12` behind a path."""
        if self.found.paths:
            self.found.lines[next(reversed(self.found.paths)), int(number)] = None

    def symbol(self, text: str, *, quoted: bool) -> None:
        """Files an identifier; a plain word is one only in backticks or quotes, or in the form of code."""
        name = text.strip(AROUND).rstrip(".:")
        called = re.search(r"\w\(", text) is not None
        name = name.split("(")[0]
        if not name or not IDENTIFIER.fullmatch(name):
            return
        if name.casefold() in tables().brands:
            return
        dotted = "." in name or "::" in name
        if (
            quoted
            or called
            or CODE_NAME.fullmatch(name)
            or (dotted and name.casefold() not in ("e.g", "i.e"))
        ):
            self.found.symbols[name] = None


# Where no space stands between words, a name is what is left of Latin letters.
LATIN = re.compile(r"[A-Za-z0-9_./~\\@:#()+-]+")
SCAN = re.compile(
    r"""
      ```(?P<fence>[^`]{0,4000})```
    | `(?P<code>[^`\n]{1,300})`
    | "(?P<double>[^"\n]{1,300})" | “(?P<curly>[^”\n]{1,300})” | «(?P<angle>[^»\n]{1,300})»
    | 「(?P<corner>[^」\n]{1,300})」 | „(?P<low>[^“”"\n]{1,300})[“”"]
    | (?<!\w)'(?P<single>[^'\n]{1,300})'(?!\w)
    | (?P<word>[^\s`"“”«»「」„]+)
    """,
    re.VERBOSE,
)


def targets(request: str, known: Collection[str]) -> Targets:
    """What a request names; see `Targets`.

    Takes time in proportion to the length of the request and the number of known paths.
    """
    namer = _Namer(known)
    found = list(SCAN.finditer(CONTROL.sub("", request)))
    words = [match["word"] or "" for match in found]
    plain = [word.strip(AROUND).casefold() for word in words]
    for at, match in enumerate(found):
        before = plain[at - 1] if at else ""
        if before in ("the", "a", "an", "file", "new", "module") and at > 1:
            before = plain[at - 2] if before != "new" else before
        after = plain[at + 1] if at + 1 < len(found) else ""
        if match.lastgroup == "word":
            _read_word(namer, words[at], before, after)
        else:
            _read_quoted(namer, match[match.lastgroup or 0].strip(), before, after, match.lastgroup or "")
    return namer.found.done()


def _read_word(namer: _Namer, word: str, before: str, after: str) -> None:
    plain = word.isascii() and word.isalpha() and word.islower() and word not in namer.places.known
    if plain and before not in LEADS_TO_FOLDER and after not in FOLDER_WORDS:
        # Most words of a long request: no path, and no name.
        return
    if SCRIPT.search(word) and word.strip(AROUND) not in namer.places.known:
        for part in LATIN.findall(word):
            if not namer.word(part, before, after):
                namer.symbol(part, quoted=False)
    elif before and LINE_WORD.match(before) and (number := re.match(r"\d{1,9}", word)):
        namer.line_word(number[0])
    elif not namer.word(word, before, after):
        namer.symbol(word, quoted=False)


def _read_quoted(namer: _Namer, text: str, before: str, after: str, form: str) -> None:
    """A quotation: a path, a name, or a text in which only paths that are there count."""
    if not text:
        return
    namer.found.quoted[text] = None
    if form == "fence":
        return
    if text in namer.places.known or " " not in text:
        if not namer.word(text, before, after, quoted=form == "code"):
            namer.symbol(text, quoted=True)
        return
    for word in text.split():
        if word.strip(AROUND) in namer.places.known:
            namer.word(word, "", "")

"""Cut Gradle's verification-metadata.xml into its components and the settings that take something out of the check.

The parser is expat, without entities: what declares a document type is not read.
"""

import json
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from cli_guard.reviewers.dependencies.lock_entries import (
    Data,
    entry,
    need_table,
    table_of,
    text_of,
)
from cli_guard.reviewers.dependencies.pieces import LockCut, LockPiece, UnreadableLock
from cli_guard.reviewers.dependencies.reading import Dependency

ROOT = "verification-metadata"
COMPONENT = [ROOT, "components", "component"]
TRUST = [ROOT, "configuration", "trusted-artifacts", "trust"]
# Whether the files that describe a component are compared.
SWITCH = [ROOT, "configuration", "verify-metadata"]
DEEPEST = 20
LONGEST_SHOWN = 100


def cut_verification(text: str) -> LockCut:
    """Return each component with the hashes of its files, and each setting; raises UnreadableLock."""
    cutter = _Cutter()
    try:
        cutter.parser.Parse(text.removeprefix("\ufeff").encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        raise UnreadableLock("invalid XML") from error
    return LockCut(tuple(cutter.pieces))


class _Cutter:
    """The elements around the one that is read, and the component that is open."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate("utf-8")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.StartElementHandler = self._start
        self.parser.CharacterDataHandler = self._take_text
        self.parser.EndElementHandler = self._end
        self.pieces: list[LockPiece] = []
        self.trail: list[str] = []
        self.line = 1
        self.component: dict[str, Any] = {}
        self.file = ""

    def _refuse(self, *_: object) -> None:
        raise UnreadableLock("it declares a document type")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        if not self.trail and name != ROOT:
            raise UnreadableLock("of an unknown layout")
        self.trail.append(name)
        if len(self.trail) > DEEPEST:
            raise UnreadableLock("nested too deep")
        if self.trail == COMPONENT:
            self.line = self.parser.CurrentLineNumber
            self.component = {**attributes, "files": {}}
        elif self.trail == TRUST:
            self._add("trust", attributes, self.parser.CurrentLineNumber)
        elif self.trail[:-1] == COMPONENT:
            self.file = attributes.get("name", "")
        elif self.trail[:3] == COMPONENT and "value" in attributes:
            self._take_hash(name, attributes["value"])

    def _take_hash(self, name: str, value: str) -> None:
        """Note a hash of a file; what else is trusted for it stands within the element of its algorithm."""
        algorithm = self.trail[-2] if name == "also-trust" else name
        known = self.component["files"].setdefault(f"{self.file} {algorithm}", [])
        known.append(f"{algorithm}:{value.lower()}")

    def _take_text(self, text: str) -> None:
        if self.trail == SWITCH and text.strip() == "false":
            self._add("switch", {}, self.parser.CurrentLineNumber)

    def _end(self, _: str) -> None:
        if self.trail == COMPONENT:
            self._add("component", self.component, self.line)
        self.trail.pop()

    def _add(self, group: str, data: Data, line: int) -> None:
        last = self.parser.CurrentLineNumber
        self.pieces.append(LockPiece(group, "", json.dumps(data), "json", line, last))


def read_verification(piece: LockPiece, data: Any, head: Data) -> Iterator[Dependency]:
    data = need_table(data)
    if piece.group == "component":
        hashes = table_of(data, "files")
        yield entry(
            "maven",
            f"{text_of(data, 'group')}:{text_of(data, 'name')}",
            text_of(data, "version"),
            files={file: " ".join(sorted(values)) for file, values in hashes.items()},
        )
    elif piece.group == "trust":
        what = " ".join(f"{key}={value}" for key, value in sorted(data.items()))
        yield entry("maven", "trust", what[:LONGEST_SHOWN], kind="integrity")
    else:
        yield entry("maven", SWITCH[-1], "false", kind="integrity")

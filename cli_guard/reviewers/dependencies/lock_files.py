"""Read a lock file: cut into pieces at once, each parsed when somebody asks for it."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any

from cli_guard.lazy import dataclass
from cli_guard.reviewers.dependencies import lock_entries
from cli_guard.reviewers.dependencies.lock_entries import Reader, table_of
from cli_guard.reviewers.dependencies.mix_pieces import cut_mix, read_mix
from cli_guard.reviewers.dependencies.pieces import (
    LockCut,
    LockPiece,
    UnreadableLock,
    cut_json,
    cut_toml,
    parse_json,
    parse_toml,
)
from cli_guard.reviewers.dependencies.reading import (
    Dependency,
    Listing,
    formats_of,
    normalise,
    read,
)
from cli_guard.reviewers.dependencies.verification_pieces import (
    cut_verification,
    read_verification,
)
from cli_guard.reviewers.dependencies.yaml_pieces import cut_yaml, parse_yaml


def _cut_yarn(text: str) -> LockCut:
    """Return the entries of Yarn 2 or later; the head has the key that its hashes are made with."""
    cut = cut_yaml(text, ((),))
    metadata = (data_of(each) for each in cut.pieces if each.key == "__metadata")
    head: Any = next(metadata, {})
    return replace(cut, head=head if isinstance(head, dict) else {})


def _cut(table: Mapping[str, Any], text: str) -> LockCut:
    """Cut a lock file as its row in the table of formats has it; raises UnreadableLock."""
    names = tuple(table.get("paths", "").split())
    paths = tuple(tuple(each.split("/")) for each in names)
    match table["cut"]:
        case "json" | "jsonc":
            return cut_json(text, paths, table["cut"] == "jsonc")
        case "yaml":
            return cut_yaml(text, paths)
        case "toml":
            return cut_toml(text, names)
        case "yarn":
            return _cut_yarn(text)
        case "mix":
            return cut_mix(text)
    return cut_verification(text)


READERS: Mapping[str, Reader] = {
    "npm": lock_entries.read_npm,
    "pnpm": lock_entries.read_pnpm,
    "bun": lock_entries.read_bun,
    "yarn": lock_entries.read_yarn,
    "deno": lock_entries.read_deno,
    "mix": read_mix,
    "gradle": read_verification,
    "python": lock_entries.read_python,
}
MENTION = re.compile(r"""name["']?[ \t]*=[ \t]*["']([^"'\\\n]*)["']""")
MOST_SAMPLED = 200
# Where an entry says what it depends on.
GROUPS = (
    "dependencies",
    "devDependencies",
    "optionalDependencies",
    "peerDependencies",
    "requires",
)
YARN_1 = re.compile(r"(?:#[^\n]*\n)*#\s+yarn\s+lockfile\s+v1\r?\n", re.IGNORECASE)
# Only Yarn 2 and later write these.
YARN_2 = re.compile("__metadata|resolution")


@dataclass(frozen=True)
class LockListing(Listing):
    """A lock file with a tree. `entries` are its settings; those of its pieces are read when they are asked for."""

    read_entry: Reader = field(kw_only=True)
    pieces: tuple[LockPiece, ...] = ()
    head: Mapping[str, Any] = field(default_factory=dict)
    _read: dict[LockPiece, tuple[Dependency, ...]] = field(default_factory=dict)

    def entries_of(self, piece: LockPiece) -> tuple[Dependency, ...]:
        """Return what a piece says; raises UnreadableLock."""
        if piece not in self._read:
            self._read[piece] = tuple(
                replace(each, line=piece.line, last=piece.last)
                for each in self.read_entry(piece, data_of(piece), self.head)
            )
        return self._read[piece]

    def readable_entries(self, pieces: Iterable[LockPiece]) -> Iterator[Dependency]:
        """Yield what some pieces say, without those that cannot be read."""
        for piece in pieces:
            with suppress(UnreadableLock):
                yield from self.entries_of(piece)

    def every(self) -> Iterator[Dependency]:
        yield from self.entries
        yield from self.readable_entries(self.pieces)

    def entries_named(self, name: str) -> tuple[Dependency, ...]:
        found = self.readable_entries(self._mentions.get(name, ()))
        unknown = self.readable_entries(self._mentions.get("", ()))
        return tuple(each for each in chain(found, unknown) if each.name == name)

    def sample(self) -> Iterator[Dependency]:
        step = len(self.pieces) // MOST_SAMPLED + 1
        yield from self.readable_entries(self.pieces[::step])

    def has_host(self, host: str) -> bool:
        # Deno's key of a file is its address.
        naming = (
            piece for piece in self.pieces if host in f"{piece.key} {piece.text}".lower()
        )
        return any(
            each.host == host or any(host in address for address in each.addresses)
            for each in self.readable_entries(naming)
        )

    def asks_for(self, name: str, wanted: str) -> bool:
        """Return whether an entry, or a package of the workspace, depends on a name with a range that begins so."""
        tables = [data_of(each) for each in self.pieces if wanted in each.text.lower()]
        tables += self.head.get("workspaces", {}).values() if self.head else ()
        return any(_asks_for(each, name, wanted) for each in tables)

    @property
    def is_empty(self) -> bool:
        return not (self.pieces or self.entries)

    @cached_property
    def _mentions(self) -> dict[str, list[LockPiece]]:
        """Return the pieces that may be of each name, under the empty one those that only a parser can tell."""
        found: dict[str, list[LockPiece]] = defaultdict(list)
        for piece in self.pieces:
            for name in self._names_in(piece):
                found[name].append(piece)
        return found

    def _names_in(self, piece: LockPiece) -> set[str]:
        has_own_name = "name" in piece.text or "\\" in piece.text
        # A name within the entry, as pnpm writes it for what is from Git, counts before that of the key.
        if piece.form == "yaml" and piece.group != "importers" and not has_own_name:
            return {normalise(lock_entries.name_in_key(piece.key), self.ecosystem)}
        if piece.form != "toml" or "\\" in piece.text:
            return {each.name for each in self.readable_entries((piece,))}
        names = MENTION.findall(piece.text)
        return {normalise(name, self.ecosystem) for name in names} or {""}


def _asks_for(data: Any, name: str, wanted: str) -> bool:
    if isinstance(data, list):
        return any(_asks_for(each, name, wanted) for each in data)
    return any(
        key.lower() == name and str(value).lower().startswith(wanted)
        for group in GROUPS
        for key, value in table_of(data, group).items()
    ) or any(
        _asks_for(each, name, wanted)
        for each in table_of(data, "dependencies").values()
        if isinstance(each, dict)
    )


def data_of(piece: LockPiece) -> Any:
    """Return a piece as data; raises UnreadableLock."""
    if piece.form == "json":
        return parse_json(piece.text)
    if piece.form == "toml":
        return parse_toml(piece.text)[piece.group][0]
    return parse_yaml(piece.text)


def read_listing(path: str, text: str) -> Listing:
    """Return the entries of a file: of a lock file in pieces, of any other one at once."""
    listing = read(path, text)
    table = next((table for kind, table in formats_of(path) if kind == "lock"), None)
    if table is None:
        return listing
    if table["cut"] == "yarn" and (YARN_1.match(text) or not YARN_2.search(text)):
        return listing
    cut = LockCut()
    problem = ""
    by_fields = partial(lock_entries.read_fields, table)
    reader = by_fields if "fields" in table else READERS[table["form"]]
    try:
        if text.strip():
            cut = _cut(table, text)
            problem = _unknown_layout(table, cut)
    except UnreadableLock as error:
        problem = str(error)
    return LockListing(
        listing.ecosystem,
        tuple(each for each in listing.entries if each.is_setting),
        True,
        problem=problem,
        is_cut=True,
        read_entry=reader,
        pieces=cut.pieces,
        head=cut.head,
    )


def _unknown_layout(table: Mapping[str, Any], cut: LockCut) -> str:
    """Say why the layout of a file is not known; empty if it is."""
    if "versions" in table:
        versions = table["versions"].split()
        key = table["version_key"]
        version = str(cut.head.get(key, versions[0]))
        if version.partition(".")[0] not in versions:
            return f"{key} {version[:20]!r} is not known"
    if table.get("closed") and not cut.pieces:
        others = (each for each in cut.head.values() if isinstance(each, dict | list))
        return "of an unknown layout" if any(others) else ""
    return "of an unknown layout" if any(map(_lists_packages, cut.head.values())) else ""


def _lists_packages(value: object) -> bool:
    """Return whether a part that no reader knows lists packages."""
    return isinstance(value, list) and any(
        isinstance(each, dict) and {"name", "version"} <= each.keys() for each in value
    )

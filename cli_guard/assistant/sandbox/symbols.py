"""Where definitions and uses come from, in the form in which a line of the output names them."""

from collections.abc import Mapping
from dataclasses import dataclass

from cli_guard.assistant import retrieval


@dataclass(frozen=True, slots=True)
class Place:
    """A definition or a use: where it stands, and what to say of it. Lines and columns count from 1."""

    path: str
    line: int
    words: str
    name: str = ""
    column: int | None = None

    def is_named(self, name: str) -> bool:
        """Is it the definition of a name, or of its last part?"""
        return self.name == name or self.name.endswith(f".{name}")

    def __str__(self) -> str:
        """As it is printed."""
        column = f":{self.column}" if self.column else ""
        return f"{self.path}:{self.line}{column}: {self.words}"


def symbols_in(path: str, text: str) -> tuple[Place, ...]:
    """The definitions of a file, in order; none for a language that is not known."""
    found = retrieval.symbols_in(path, text)
    return tuple(Place(path, each.line, f"{each.kind} {each.qualname}", each.qualname) for each in found)


def references(name: str, texts: Mapping[str, str], seconds: float) -> tuple[tuple[Place, ...], bool]:
    """The uses of a name, and whether every file was read within `seconds`."""
    looked = retrieval.look_up(name, texts, seconds=seconds)
    places = (
        Place(r.path, r.line, f"{r.kind}: {r.text.strip()[:200]}", name, r.column) for r in looked.references
    )
    return tuple(places), not any(each.by_limit for each in looked.skipped)

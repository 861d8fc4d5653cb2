"""Finds the file that a request names."""

import difflib
from dataclasses import dataclass
from pathlib import PurePosixPath

from cli_guard.assistant.editing.sources import Sources


@dataclass(frozen=True, slots=True)
class NamedPath:
    """The file a request means; "" if there is none, and then what is near. `assumed` if it could be another."""

    path: str
    assumed: str | None = None
    missing: str = ""


def find_path(sources: Sources, said: str) -> NamedPath:
    """The file that `said` names: whole, by the end of its path, or without its ending."""
    clean = said.strip("`'\"").removeprefix("./")
    if clean in sources.texts:
        return NamedPath(clean)
    fits = [p for p in sources.texts if p.endswith(f"/{clean}")]
    if not fits:
        dotted = clean.replace(".", "/") if "/" not in clean else clean
        fits = [
            p
            for p in sources.texts
            if f"/{PurePosixPath(p).with_suffix('')}".endswith((f"/{clean}", f"/{dotted}"))
        ]
        fits += [p for p in sources.texts if f"/{p}".endswith(f"/{dotted}/__init__.py")]
    if fits:
        first = min(fits, key=lambda p: (p.count("/"), p))
        others = [p for p in fits if p != first]
        note = f"{said} is {first}; not taken: {', '.join(others[:5])}" if others else None
        return NamedPath(first, note)
    near = difflib.get_close_matches(clean, list(sources.texts)[:20_000], 3, 0.7)
    return NamedPath("", None, f"{said}{'; near: ' + ', '.join(near) if near else ''}")

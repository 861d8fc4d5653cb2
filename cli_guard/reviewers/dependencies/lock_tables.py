"""What the entries of lock files in TOML say: Cargo, uv, Poetry, PDM and pylock."""

from collections.abc import Iterator, Mapping
from typing import Any

from cli_guard.reviewers.dependencies.lock_entries import (
    Data,
    entry,
    list_of,
    need_table,
    table_of,
    text_of,
)
from cli_guard.reviewers.dependencies.pieces import LockPiece
from cli_guard.reviewers.dependencies.reading import Dependency, normalise

# What a table says of where a package is from, and how that is written as an address.
ORIGINS = {
    "git": "git+",
    "url": "",
    "registry": "",
    "path": "path:",
    "directory": "path:",
    "file": "path:",
}
OWN_ORIGINS = ("editable", "virtual", "workspace")


def read_cargo(piece: LockPiece, data: Any, head: Data) -> Iterator[Dependency]:
    data = need_table(data)
    name = text_of(data, "name")
    version = text_of(data, "version")
    source = text_of(data, "source")
    # Until version 2 all checksums stood at the end.
    old = text_of(head, "metadata", f"checksum {name} {version} ({source})")
    yield entry(
        "cargo", name, version, source=source, hashes=text_of(data, "checksum") or old
    )


def read_python(piece: LockPiece, data: Any, head: Data) -> Iterator[Dependency]:
    """Read an entry of uv, Poetry, PDM or pylock: a version, its source and the hash of each file."""
    data = need_table(data)
    name = text_of(data, "name")
    version = text_of(data, "version")
    origin = {**data, **table_of(data, "source")}
    for key in ("vcs", "archive", "directory"):
        origin |= table_of(data, key)
    files = [*list_of(data, "files"), *list_of(data, "wheels"), data.get("sdist")]
    files += [data.get("archive"), *_old_files(name, version, head)]
    hashes = {file_name(each): hash_of(each) for each in files if isinstance(each, dict)}
    addresses = {text_of(each, "url") for each in files} - {""}
    yield entry(
        "pypi",
        name,
        version,
        source=_source_of(origin, table_of(data, "source")),
        files={key: value for key, value in hashes.items() if value},
        hashes=hash_of(table_of(data, "source")) or hash_of(data),
        ref=text_of(origin, "resolved_reference")
        or text_of(origin, "revision")
        or text_of(origin, "commit-id"),
        addresses=addresses,
    )


def _source_of(origin: Mapping[str, Any], source: Data) -> str:
    if any(key in source for key in OWN_ORIGINS):
        return "workspace:"
    kind = text_of(origin, "type")
    if kind == "git":
        return f"git+{text_of(origin, 'url')}"
    for key, prefix in ORIGINS.items():
        if found := text_of(origin, key):
            return found if found.startswith(prefix) else prefix + found
    return text_of(origin, "index")


def _old_files(name: str, version: str, head: Data) -> list[Any]:
    """Return the files of a package that old formats name at the end, by its name or its name and version."""
    files = table_of(table_of(head, "metadata"), "files")
    found = list_of(files, name) or list_of(files, f"{name} {version}")
    return found or list_of(files, f"{normalise(name, 'pypi')} {version}")


def file_name(data: Data) -> str:
    given = text_of(data, "file") or text_of(data, "name")
    return given or text_of(data, "url").partition("#")[0].rpartition("/")[2]


def hash_of(data: object) -> str:
    """Return the hash of one file, the strongest of several."""
    found = text_of(data, "hash")
    several = table_of(data, "hashes")
    for name in ("sha512", "sha384", "sha256"):
        if not found and name in several:
            found = f"{name}:{several[name]}"
    return found

"""What the pieces of each lock file's format say: name, version, address and hashes of one entry.

Each reader takes a piece as data, with the head of its file, and yields entries without their lines.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from posixpath import basename
from typing import Any

from cli_guard.reviewers.dependencies.pieces import LockPiece, UnreadableLock
from cli_guard.reviewers.dependencies.reading import OWN, REF, SOURCE, Dependency, normalise

Data = Mapping[str, Any]
Reader = Callable[[LockPiece, Any, Data], Iterator[Dependency]]
NAMED = re.compile(r"(@?[^@]+)@(.+)", re.DOTALL)
# The peers that pnpm writes behind a version.
PEERS = re.compile(r"\(.*|_.*", re.DOTALL)
# What a table says of where a package is from, and how that is written as an address.
ORIGINS = {
    "git": "git+",
    "url": "",
    "registry": "",
    "path": "path:",
    "directory": "path:",
    "file": "path:",
}
# How an address begins by the word that says what kind of source it is.
KINDS = {"git": "git+", "path": "path:", "Project": "workspace:"}
OWN_ORIGINS = ("editable", "virtual", "workspace")


def value_at(data: object, *keys: str) -> object:
    """Return the value at some keys, None if there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def text_of(data: object, *keys: str) -> str:
    found = value_at(data, *keys)
    return found if isinstance(found, str) else ""


def table_of(data: object, *keys: str) -> Data:
    found = value_at(data, *keys)
    return found if isinstance(found, dict) else {}


def list_of(data: object, *keys: str) -> list[Any]:
    found = value_at(data, *keys)
    return found if isinstance(found, list) else []


def need_table(data: object) -> Data:
    if not isinstance(data, dict):
        raise UnreadableLock("of an unknown layout")
    return data


def entry(
    ecosystem: str,
    name: str,
    version: str,
    *,
    source: str = "",
    hashes: str = "",
    files: Mapping[str, str] | None = None,
    addresses: Iterable[str] = (),
    package: str = "",
    place: str = "",
    ref: str = "",
    has_script: bool = False,
    kind: str = "",
) -> Dependency:
    """Return an entry. `hashes` are divided by blanks, `files` are the hashes of named files."""
    found = REF.search(source)
    named = files or {}
    if source.startswith(OWN):
        source = "workspace:"
    package = normalise(package, ecosystem)
    name = normalise(name, ecosystem)
    return Dependency(
        name,
        ecosystem,
        kind,
        version,
        source,
        ref or (found[1] if found else ""),
        frozenset((*hashes.split(), *named.values())) - {""},
        has_script,
        place=place,
        package="" if package == name else package,
        files=frozenset(named.items()),
        addresses=frozenset(addresses),
    )


def text_at(data: Data, paths: str) -> str:
    """Return the text, or the texts of the list, at the first of some paths that has one."""
    for path in paths.split():
        steps = path.split("/")
        several = (each for each in list_of(data, *steps) if isinstance(each, str))
        if found := text_of(data, *steps) or " ".join(several):
            return found
    return ""


def read_fields(
    table: Mapping[str, Any], piece: LockPiece, data: Any, head: Data
) -> Iterator[Dependency]:
    """Read an entry by the `fields` of its format; what has no name in it is named by its key."""
    data = need_table(data)
    found = {name: text_at(data, paths) for name, paths in table["fields"].items()}
    field = defaultdict(str, found)
    name = field["name"] or piece.key
    version = field["version"].lstrip("=v")
    source = KINDS.get(field["kind"], "") + field["source"]
    if field["git"]:
        source = f"git+{field['git']}"
    # Until version 2 Cargo had all checksums at the end.
    old = text_of(head, "metadata", f"checksum {name} {version} ({source})")
    files = {"dist": field["dist"], "commit": field["commit"]}
    yield entry(
        table["ecosystem"],
        name,
        version,
        source=source,
        hashes=field["hashes"] or old,
        files={name: value for name, value in files.items() if value},
        package=field["package"],
        place=field["place"] or piece.group,
        ref=field["ref"],
    )


def read_npm(piece: LockPiece, data: Any, head: Data) -> Iterator[Dependency]:
    data = need_table(data)
    if piece.group == "dependencies":
        yield from _read_old_npm(piece.key, data, "")
        return
    _, mark, name = piece.key.rpartition("node_modules/")
    if not piece.key:
        return
    is_own = not mark or data.get("link") is True
    real = text_of(data, "name")
    yield entry(
        "npm",
        name if mark else real or basename(name),
        text_of(data, "version"),
        source="workspace:" if is_own else text_of(data, "resolved"),
        hashes=text_of(data, "integrity"),
        package=real if mark and not is_own else "",
        place=piece.key,
        has_script=data.get("hasInstallScript") is True,
    )


def _read_old_npm(name: str, data: Data, above: str) -> Iterator[Dependency]:
    """Yield an entry of version 1 and those below it, each at the place that version 2 gives it."""
    version = text_of(data, "version")
    source = text_of(data, "resolved")
    place = f"{above}node_modules/{name}"
    package = ""
    if version.startswith("npm:"):
        package, _, version = version[4:].rpartition("@")
    elif SOURCE.match(version):
        source = source or version
        version = ""
    yield entry(
        "npm",
        name,
        version,
        source=source,
        hashes=text_of(data, "integrity"),
        package=package,
        place=place,
    )
    for below, value in table_of(data, "dependencies").items():
        yield from _read_old_npm(below, need_table(value), f"{place}/")


def read_pnpm(piece: LockPiece, data: Any, head: Data) -> Iterator[Dependency]:
    if piece.group == "importers":
        yield from _read_importer(piece, need_table(data))
        return
    if piece.group == "snapshots":
        return
    data = need_table(data)
    resolution = table_of(data, "resolution")
    name, version = _split_key(piece.key)
    source = text_of(resolution, "tarball") or text_of(resolution, "repo")
    if SOURCE.match(version):
        source = source or version
        version = text_of(data, "version")
    if resolution.get("type") == "git":
        source = f"git+{source}"
    if "directory" in resolution:
        source = f"file:{resolution['directory']}"
    yield entry(
        "npm",
        text_of(data, "name") or name,
        text_of(data, "version") or version,
        source=source,
        hashes=text_of(resolution, "integrity"),
        place=piece.key,
        ref=text_of(resolution, "commit"),
        has_script=text_of(data, "requiresBuild") == "true",
    )


def name_in_key(key: str) -> str:
    """Return the name that a key of pnpm or Yarn begins with."""
    key = key.removeprefix("/")
    # What begins with @ has a scope.
    end = key.find("@", 1)
    return key[:end] if end > 0 else key.rpartition("/")[0] or key


def _split_key(key: str) -> tuple[str, str]:
    """Return the name and version of a key: `/a/1.0.0_b` of version 5, `/a@1.0.0(b)` of 6, `a@1.0.0` of 9."""
    key = key.removeprefix("/")
    found = NAMED.fullmatch(key)
    if found:
        return found[1], found[2] if SOURCE.match(found[2]) else PEERS.sub("", found[2])
    name, _, version = key.rpartition("/")
    return name, PEERS.sub("", version)


def _read_importer(piece: LockPiece, data: Data) -> Iterator[Dependency]:
    """Yield what a workspace's package has by a name that is not the package's own."""
    for group in ("dependencies", "devDependencies", "optionalDependencies"):
        for name, value in table_of(data, group).items():
            found = NAMED.fullmatch(PEERS.sub("", text_of(value, "version")))
            specifier = text_of(value, "specifier")
            if found and not SOURCE.match(found[2]) and not specifier.startswith("npm:"):
                yield entry(
                    "npm", name, found[2], package=found[1].lstrip("/"), place=piece.key
                )


def read_bun(piece: LockPiece, data: Any, head: Data) -> Iterator[Dependency]:
    found = NAMED.fullmatch(str(data[0])) if isinstance(data, list) and data else None
    if found is None:
        raise UnreadableLock("of an unknown layout")
    package, version = found.groups()
    source = next((each for each in data[1:2] if isinstance(each, str)), "")
    hashes = data[-1] if len(data) > 1 and isinstance(data[-1], str) else ""
    if SOURCE.match(version):
        source = version
        version = ""
        hashes = hashes if re.match(r"\w+-", hashes) else ""
    scope, _, last = piece.key.rpartition("/")
    scope = basename(scope)
    name = f"{scope}/{last}" if scope.startswith("@") else last
    is_real = piece.key.endswith(package)
    yield entry(
        "npm",
        package if is_real else name,
        version,
        source=source if source != hashes else "",
        hashes=hashes,
        package=package,
        place=piece.key,
    )


def read_yarn(piece: LockPiece, data: Any, head: Data) -> Iterator[Dependency]:
    """Read an entry of Yarn 2 or later: its key has the ranges, its resolution the package and where it is from."""
    if piece.key == "__metadata":
        return
    data = need_table(data)
    found = NAMED.fullmatch(text_of(data, "resolution"))
    asked = NAMED.fullmatch(piece.key)
    if found is None or asked is None:
        raise UnreadableLock("of an unknown layout")
    package, where = found.groups()
    source = ""
    version = where.removeprefix("npm:").partition("::")[0]
    if not where.startswith("npm:"):
        version = text_of(data, "version")
    if not where.startswith("npm:") or "__archiveUrl=" in where:
        source = where.partition("__archiveUrl=")[2] or where
    checksum = text_of(data, "checksum")
    if checksum and "/" not in checksum:
        checksum = f"{head.get('cacheKey', '')}/{checksum}"
    is_stated = f"npm:{package}@" in piece.key
    yield entry(
        "npm",
        asked[1],
        version,
        source=source,
        hashes=checksum,
        package="" if is_stated else package,
        place=piece.key,
    )


def read_deno(piece: LockPiece, data: Any, head: Data) -> Iterator[Dependency]:
    kind = basename(piece.group)
    if kind == "remote":
        yield entry("deno", piece.key, "", source=piece.key, hashes=str(data))
        return
    found = NAMED.fullmatch(piece.key)
    if found is None:
        raise UnreadableLock("of an unknown layout")
    data = need_table(data)
    yield entry(
        "npm" if kind == "npm" or piece.group == "npm/packages" else "jsr",
        found[1],
        PEERS.sub("", found[2]),
        source=text_of(data, "tarball"),
        hashes=text_of(data, "integrity"),
        place=piece.key,
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
    files = table_of(head, "metadata", "files")
    found = list_of(files, name) or list_of(files, f"{name} {version}")
    return found or list_of(files, f"{normalise(name, 'pypi')} {version}")


def file_name(data: Data) -> str:
    given = text_of(data, "file") or text_of(data, "name")
    return given or basename(text_of(data, "url").partition("#")[0])


def hash_of(data: object) -> str:
    """Return the hash of one file, the strongest of several."""
    found = text_of(data, "hash")
    several = table_of(data, "hashes")
    for name in ("sha512", "sha384", "sha256"):
        if not found and name in several:
            found = f"{name}:{several[name]}"
    return found

"""Read the files of rules: the sources in a checkout, and what the build made of them in an installation.

The files of a folder are compiled into one file: a line with the place of each, then each as JSON, without the
examples that only tests need, and compressed. Parsing TOML and YAML takes longer than most reviews; of a compiled file
only what is asked for is parsed. A wheel has the compiled files alone (`hatch_build.py` writes them). A checkout keeps
them in `__pycache__`, and compiles a folder again when the name, size or time of one of its files, or of this one, has
changed.
"""

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
COMPILED = FOLDER / "compiled"
CACHE = FOLDER / "__pycache__"
INDEX = "index.json"
ENDINGS = (".toml", ".yml", ".txt")
# Keys of examples. A rule keeps its first of each, which `cli-guard explain` shows, and so does the first sink of a
# kind; other tables keep none.
OF_RULES = ("fires", "silent")
OF_TABLES = {
    "orders": ("fires", "near"),
    "programs": ("match", "near", "allow", "review", "deny"),
}
Stamps = list[list[str | int]]


@cache
def read(path: str, *, examples: bool = False) -> Any:
    """Return the data of a file under this folder, such as `flow/python/web.toml`; nobody may change it.

    TOML gives a dict, YAML a list of documents, other text a list of its lines. With `examples` the source is parsed,
    which an installation does not have. Raises KeyError if there is no such file.
    """
    if examples:
        return parse(FOLDER / path)
    folder, _, name = path.rpartition("/")
    return json.loads(zlib.decompress(_read_unit(folder or name)[name]))


def names(folder: str) -> tuple[str, ...]:
    """Return the names of the files in a folder, sorted; none if there is no such folder."""
    return tuple(_read_unit(folder))


@cache
def paths() -> tuple[str, ...]:
    """Return the paths of all files of rules, sorted."""
    if COMPILED.is_dir():
        found: list[str] = json.loads((COMPILED / INDEX).read_bytes())
        return tuple(found)
    return tuple(sorted(_walk()))


def parse(file: Path) -> Any:
    """Return what a source says."""
    if file.suffix == ".toml":
        import tomllib

        return tomllib.loads(file.read_text("utf-8"))
    if file.suffix == ".yml":
        import yaml

        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        with file.open("rb") as stream:
            return list(yaml.load_all(stream, Loader=loader))
    return file.read_text("utf-8").splitlines()


def compile_all(folder: Path) -> None:
    """Write the compiled files of all sources into a folder, as an installation has them in `COMPILED`."""
    every = sorted(_walk())
    (folder / INDEX).write_text(json.dumps(every), "utf-8")
    for unit in {path.rpartition("/")[0] or path for path in every}:
        _write(folder / _compiled_name(unit), [], _compile(unit))


def _walk() -> Iterator[str]:
    """Yield the paths of the sources; `rglob` takes seven times as long, at the start of every judgement."""
    for folder, _, files in os.walk(FOLDER):
        inside = os.path.relpath(folder, FOLDER)
        start = "" if inside == "." else f"{inside}/"
        yield from (f"{start}{name}" for name in files if name.endswith(ENDINGS))


@cache
def _read_unit(unit: str) -> Mapping[str, bytes]:
    """Return the compressed JSON of the files of a folder by name; a file at the top is a unit of its own.

    Raises ValueError for a compiled file of an installation that is broken: without its rules nothing would be found.
    """
    name = _compiled_name(unit)
    if COMPILED.is_dir():
        file = COMPILED / name
        return _read_compiled(file)[1] if file.exists() else {}
    stamps = _stamps(unit)
    with suppress(OSError, ValueError):
        made_of, files = _read_compiled(CACHE / name)
        if made_of == stamps:
            return files
    files = _compile(unit)
    if (FOLDER.parents[1] / ".git").exists():
        with suppress(OSError):
            CACHE.mkdir(exist_ok=True)
            _write(CACHE / name, stamps, files)
    return files


def _compiled_name(unit: str) -> str:
    """Return `flow.python.json` for `flow/python`, and `message.toml.json` for `message.toml`.

    The folder `message`, which there is not, is asked for as well: with one file for both each would compile it again.
    """
    return f"{unit.replace('/', '.')}.json"


def _sources(unit: str) -> list[Path]:
    place = FOLDER / unit
    if not place.is_dir():
        return [place] if place.exists() else []
    return sorted(file for file in place.iterdir() if file.name.endswith(ENDINGS))


def _stamps(unit: str) -> Stamps:
    """Return name, size in bytes and time in nanoseconds of the sources, and of the code that compiles them."""
    found: Stamps = []
    for file in (Path(__file__), *_sources(unit)):
        about = file.stat()
        found.append([file.name, about.st_size, about.st_mtime_ns])
    return found


def _compile(unit: str) -> dict[str, bytes]:
    kind = unit.partition("/")[0]
    files = {}
    for file in _sources(unit):
        data = _strip(parse(file), kind)
        raw = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
        files[file.name] = zlib.compress(raw, 9)
    return files


def _strip(data: Any, kind: str) -> Any:
    """Return the data of a source without its examples but, in a rule, the first of each sort."""
    if kind == "flow":
        return {**_without(data, OF_RULES), "sink": list(_shorten_sinks(data))}
    if kind in OF_TABLES:
        return _without(data, OF_TABLES[kind])
    if isinstance(data, dict) and isinstance(data.get("rule", data.get("sign")), list):
        rules = [_shorten(rule) for rule in data.get("rule", ())]
        return {**_without({**data, "rule": []}, OF_RULES), "rule": rules}
    if isinstance(data, list):
        return [_strip_document(each) for each in data]
    return data


def _strip_document(document: Any) -> Any:
    """Return one of ast-grep's rules, or the line of a list as it is."""
    if isinstance(document, dict) and "metadata" in document:
        return {**document, "metadata": _shorten(document["metadata"])}
    return document


def _shorten_sinks(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    seen = set()
    for sink in table.get("sink", ()):
        yield _without(sink, OF_RULES) if sink["kind"] in seen else _shorten(sink)
        seen.add(sink["kind"])


def _shorten(rule: Mapping[str, Any]) -> dict[str, Any]:
    short = {key: each[:1] if key in OF_RULES else each for key, each in rule.items()}
    if "change" in rule:
        # A `[[rule.change]]` is an example as well: one of each sort.
        firsts = {is_firing(each): each for each in reversed(rule["change"])}
        short["change"] = list(firsts.values())
    return short


def is_firing(change: Mapping[str, Any]) -> bool:
    """Return whether an example of a change is reported: that of a repository expects lines."""
    return bool(change.get("fires", change.get("expect")))


def _without(data: Any, left: tuple[str, ...]) -> Any:
    if isinstance(data, list):
        return [_without(each, left) for each in data]
    if isinstance(data, dict):
        return {key: _without(each, left) for key, each in data.items() if key not in left}
    return data


def _read_compiled(file: Path) -> tuple[Stamps, dict[str, bytes]]:
    """Return the stamps of the sources and the files in a compiled one. Raises OSError, ValueError for a broken one."""
    head, _, body = file.read_bytes().partition(b"\n")
    try:
        about = json.loads(head)
        places = about["places"]
        return about["stamps"], {name: body[start:end] for name, start, end in places}
    except (KeyError, TypeError) as error:
        raise ValueError(f"{file}: not a file of compiled rules") from error


def _write(file: Path, stamps: Stamps, files: Mapping[str, bytes]) -> None:
    ends = list(accumulate(map(len, files.values())))
    places = list(zip(files, [0, *ends], ends, strict=False))
    head = json.dumps({"stamps": stamps, "places": places})
    # Another process may read it at this moment.
    unfinished = file.with_name(f"{file.name}.{os.getpid()}")
    unfinished.write_bytes(b"\n".join((head.encode(), b"".join(files.values()))))
    unfinished.replace(file)

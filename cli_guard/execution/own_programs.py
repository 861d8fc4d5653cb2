"""The programs that a project makes itself, by the manifests of its packages; read, never run."""

import configparser
import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from posixpath import basename
from typing import Any

from cli_guard.runtime import read_plain

# Where the packages of one repository are.
PACKAGES = ("packages", "apps", "libs", "crates", "tools")
MOST_PACKAGES = 200
MOST_COMMANDS = 1_000
LONGEST = 2_000_000


def find_own_programs(root: Path) -> frozenset[str]:
    """Return the names of the programs that the packages of a work tree make."""
    found = (name for folder in list_packages(root) for name in read_names(folder))
    return frozenset(islice(found, MOST_COMMANDS))


def list_packages(root: Path) -> Iterator[Path]:
    yield root
    for name in PACKAGES:
        with suppress(OSError), os.scandir(root / name) as entries:
            folders = (
                Path(each.path) for each in entries if each.is_dir(follow_symlinks=False)
            )
            yield from islice(folders, MOST_PACKAGES)


def read_names(folder: Path) -> Iterator[str]:
    """Yield the names of the programs of one package. A manifest that cannot be read has none."""
    pyproject = read_data(folder / "pyproject.toml")
    for keys in (
        ("project", "scripts"),
        ("project", "gui-scripts"),
        ("tool", "poetry", "scripts"),
    ):
        yield from names_in(pyproject, *keys)
    yield from read_setup(folder / "setup.cfg")
    package = read_data(folder / "package.json")
    bins = package.get("bin")
    if isinstance(bins, str):
        # npm drops the scope of a name.
        yield basename(str(package.get("name", "")))
    yield from names_in(package, "bin")
    cargo = read_data(folder / "Cargo.toml")
    listed = cargo.get("bin")
    tables = [cargo.get("package"), *(listed if isinstance(listed, list) else ())]
    yield from (str(each.get("name", "")) for each in tables if isinstance(each, dict))
    if (folder / "go.mod").is_file():
        with suppress(OSError):
            yield from islice(sorted(os.listdir(folder / "cmd")), MOST_COMMANDS)  # noqa: PTH208


def names_in(data: Mapping[str, Any], *keys: str) -> tuple[str, ...]:
    """Return the names of a table below some keys; none if there is no such table."""
    found: Any = data
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return tuple(found) if isinstance(found, dict) else ()


def read_setup(path: Path) -> Iterator[str]:
    """Yield the console scripts of a setup.cfg."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(read_manifest(path))
        text = parser.get("options.entry_points", "console_scripts", fallback="")
    except (OSError, configparser.Error):
        return
    yield from (line.partition("=")[0].strip() for line in text.splitlines() if "=" in line)


def read_manifest(path: Path) -> str:
    """Return the text of a manifest; "" for one that is longer than any. Raises OSError."""
    return (
        "" if path.stat().st_size > LONGEST else read_plain(path).decode("utf-8", "replace")
    )


def read_data(path: Path) -> dict[str, Any]:
    parse = json.loads if path.suffix == ".json" else tomllib.loads
    try:
        data = parse(read_manifest(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}

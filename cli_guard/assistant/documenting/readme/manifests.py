"""Reads what the files of a project say of it: pyproject.toml, package.json, Cargo.toml, go.mod, Makefile, tox.ini."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

NAME = re.compile(r"[\w@][\w@./-]{0,100}")
LARGEST = 400_000
TARGET = re.compile(r"^([A-Za-z][\w.-]*)\s*:(?!=)[^#\n]*(?:##\s*(.*))?$", re.M)


def table(value: object, *keys: str) -> Mapping[str, object]:
    """The mapping under some keys, empty if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return {k: v for k, v in value.items() if isinstance(k, str)} if isinstance(value, dict) else {}


def text_of(value: object) -> str:
    """A name or version as it may be shown, "" for anything else."""
    return value if isinstance(value, str) and value.isprintable() and 0 < len(value) <= 120 else ""


def line_with(text: str, *wanted: str) -> int:
    """The first line that holds all that is wanted, 1 if none does."""
    return next((n for n, line in enumerate(text.split("\n"), 1) if all(w in line for w in wanted)), 1)


@dataclass(frozen=True)
class Project:
    """The manifests at the root of a repository; what does not parse counts as not there."""

    texts: Mapping[str, str]

    def text(self, path: str) -> str:
        """A file's text, "" if it is not there or larger than any manifest."""
        text = self.texts.get(path, "")
        return text if len(text) <= LARGEST else ""

    def at(self, path: str, *wanted: str) -> str:
        """`path:line` of the first line that holds all that is wanted."""
        return f"{path}:{line_with(self.text(path), *wanted)}"

    def _toml(self, path: str) -> Mapping[str, object]:
        try:
            return table(tomllib.loads(self.text(path)))
        except (tomllib.TOMLDecodeError, RecursionError):
            return {}

    @cached_property
    def pyproject(self) -> Mapping[str, object]:
        """The tables of pyproject.toml."""
        return self._toml("pyproject.toml")

    @cached_property
    def cargo(self) -> Mapping[str, object]:
        """The tables of Cargo.toml."""
        return self._toml("Cargo.toml")

    @cached_property
    def package(self) -> Mapping[str, object]:
        """The members of package.json."""
        try:
            return table(json.loads(self.text("package.json") or "{}"))
        except (ValueError, RecursionError):
            return {}

    @cached_property
    def go_module(self) -> str:
        """The module path of go.mod."""
        match = re.search(r"^module\s+(\S+)", self.text("go.mod"), re.M)
        return text_of(match[1]) if match else ""

    @cached_property
    def python_name(self) -> str:
        """The name of the Python distribution."""
        found = table(self.pyproject, "project").get("name") or table(self.pyproject, "tool", "poetry").get(
            "name"
        )
        if not found:
            pattern = re.compile(r"""^[ \t]*name\s*=\s*["']?([\w.-]+)""", re.M)
            match = pattern.search(self.text("setup.cfg")) or pattern.search(self.text("setup.py"))
            found = match[1] if match else ""
        return text_of(found)

    @cached_property
    def python_manifest(self) -> str:
        """The file that makes this a Python distribution, "" if there is none."""
        if table(self.pyproject, "project") or table(self.pyproject, "tool", "poetry"):
            return "pyproject.toml"
        return next((name for name in ("setup.py", "setup.cfg") if self.text(name)), "")

    @property
    def poetry(self) -> bool:
        """Is it Poetry's own table that describes the Python distribution?"""
        return not table(self.pyproject, "project") and bool(table(self.pyproject, "tool", "poetry"))

    @cached_property
    def extras(self) -> tuple[str, ...]:
        """The optional dependencies of the Python distribution by name."""
        names = table(self.pyproject, "project", "optional-dependencies") or table(
            self.pyproject, "tool", "poetry", "extras"
        )
        return tuple(n for n in names if NAME.fullmatch(n))

    @cached_property
    def scripts(self) -> Mapping[str, str]:
        """The commands that the Python distribution installs: name -> `module:function`."""
        found = {
            **table(self.pyproject, "project", "scripts"),
            **table(self.pyproject, "tool", "poetry", "scripts"),
        }
        if not found:
            pattern = re.compile(r"""^[ \t]*["']?([\w.-]+)\s*=\s*([\w.]+:[\w.]+)""", re.M)
            part = self.text("setup.cfg") + "\n" + self.text("setup.py")
            place = part.find("console_scripts")
            found = (
                dict(pattern.findall(part[place : place + 2_000].replace('"', "\n"))) if place >= 0 else {}
            )
        return {n: text_of(v) for n, v in found.items() if NAME.fullmatch(n) and text_of(v)}

    @cached_property
    def node_scripts(self) -> Mapping[str, str]:
        """The scripts of package.json."""
        scripts = table(self.package, "scripts")
        return {
            n: text_of(v) for n, v in scripts.items() if NAME.fullmatch(n.replace(":", "-")) and text_of(v)
        }

    @cached_property
    def node_tool(self) -> str:
        """The package manager whose lock file is there."""
        named = text_of(self.package.get("packageManager")).split("@")[0]
        if named in ("npm", "pnpm", "yarn", "bun"):
            return named
        for lock, tool in (
            ("pnpm-lock.yaml", "pnpm"),
            ("yarn.lock", "yarn"),
            ("bun.lockb", "bun"),
            ("bun.lock", "bun"),
        ):
            if lock in self.texts:
                return tool
        return "npm"

    @cached_property
    def targets(self) -> Mapping[str, str]:
        """The targets of the Makefile: name -> the remark behind `##`."""
        found = TARGET.findall(self.text(self.makefile)) if self.makefile else []
        return {name: remark.strip() for name, remark in found if not name.startswith(".")}

    @cached_property
    def makefile(self) -> str:
        """The name of the Makefile, "" if there is none."""
        return next((n for n in ("Makefile", "makefile", "GNUmakefile") if n in self.texts), "")

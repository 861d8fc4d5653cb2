"""`ls` as GNU prints it to a pipe: one name a line, in the order of bytes.

A file has the time of the epoch unless the call has written it: a snapshot knows no times, and the same call must
give the same output. The interpreter's own `ls` has no -p, -r, -S and -v, no `.` with -a, and fewer columns with -l:
15 more of the 1,137 chains of `benchmarks/shell.py` would differ from bash.
"""

import datetime
import math
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from cli_guard.assistant.sandbox.commands.command import Options, read_options
from cli_guard.assistant.sandbox.model import Answer, Call, WrongUsage

# -1, -N and -q are what a pipe gets anyway.
LETTERS = dict.fromkeys((f"-{letter}" for letter in "1AFNRSadhlpqrtv"), "")
LONG = {
    "--all": "-a",
    "--almost-all": "-A",
    "--directory": "-d",
    "--reverse": "-r",
    "--recursive": "-R",
    "--human-readable": "-h",
    "--classify": "-F",
    "--color": "-N",
}
BLOCK = 4096
UNITS = ("", "K", "M", "G", "T")
TROUBLE = 2
OWNER = "user"
TYPES = {"directory": stat.S_IFDIR, "symlink": stat.S_IFLNK}
DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Node:
    """A file, link or folder; `size` is in bytes, `modified` in seconds since the epoch."""

    name: str
    path: str
    kind: str = "directory"
    size: int = BLOCK
    mode: int = 0o755
    modified: float = 0.0


def ls(call: Call) -> Answer:
    """List files and folders."""
    try:
        options = read_options(call.arguments, LETTERS, LONG)
    except WrongUsage as wrong:
        return Answer.error("ls", str(wrong), TROUBLE)
    return Listing(call, options).answer()


class Listing:
    """One call of `ls`."""

    def __init__(self, call: Call, options: Options) -> None:
        self._call = call
        self._operands = [*options.words, *(options.paths or ())] or ["."]
        self._has = options.has
        self._given = tuple(options.values)
        self._long = options.has("-l")
        self._errors: list[str] = []
        self._blocks: list[str] = []

    def answer(self) -> Answer:
        """Return what is printed: the files first, then each folder under its name."""
        nodes = [node for name in self._operands if (node := self._find(name))]
        folders = [] if self._has("-d") else [node for node in nodes if self._opens(node)]
        listed = {id(node) for node in folders}
        if plain := [node for node in nodes if id(node) not in listed]:
            self._blocks.append(self._write_rows(plain))
        for folder in self._sort(folders):
            self._list_folder(folder, named=len(self._operands) > 1 or self._has("-R"))
        errors = "".join(f"ls: cannot access '{error}\n" for error in self._errors)
        return Answer(
            "\n".join(self._blocks).encode(), errors.encode(), TROUBLE if errors else 0
        )

    def _last(self, *options: str) -> str:
        """Return the last given of some options that exclude each other, "" for none."""
        return next((name for name in reversed(self._given) if name in options), "")

    def _opens(self, node: Node) -> bool:
        """Is an operand listed by what is in it? A link to a folder is, unless the link is described."""
        return node.kind == "directory" or (
            not self._long and self._call.is_folder(node.path)
        )

    def _find(self, name: str) -> Node | None:
        path = self._call.absolute(name)
        try:
            node = self._node(name, path, self._look_up(path))
        except (RuntimeError, OSError):
            self._errors.append(f"{name}': No such file or directory")
            return None
        if name.endswith("/") and not self._call.is_folder(path):
            self._errors.append(f"{name}': Not a directory")
            return None
        return node

    def _look_up(self, path: str) -> dict[str, Any]:
        """Describe a path as lstat(2) does: the interpreter's `stat` follows links."""
        try:
            target = self._call.files.read_link(path)
        except (RuntimeError, OSError):
            return self._call.files.stat(path)
        return {"file_type": "symlink", "size": len(target), "mode": 0o777, "modified": 0.0}

    def _node(self, name: str, path: str, about: dict[str, Any]) -> Node:
        kind = about["file_type"]
        modified = about["modified"]
        size = BLOCK if kind == "directory" else about["size"]
        is_written = modified >= self._call.started_at
        return Node(
            name,
            path,
            kind,
            size,
            stat.S_IMODE(about["mode"]),
            modified if is_written else 0.0,
        )

    def _list_folder(self, folder: Node, *, named: bool) -> None:
        nodes = [
            self._node(each["name"], f"{folder.path}/{each['name']}", each["metadata"])
            for each in self._call.files.read_dir(folder.path)
            if self._has("-a", "-A") or not each["name"].startswith(".")
        ]
        dots = [
            Node(dot, folder.path) for dot in (".", "..") if self._last("-a", "-A") == "-a"
        ]
        head = f"{folder.name}:\n" if named else ""
        if self._long:
            blocks = sum(
                -(-node.size // BLOCK) for node in (*nodes, *dots) if node.kind != "symlink"
            )
            head += f"total {self._size(blocks * (BLOCK // 1024), 1024)}\n"
        self._blocks.append(head + self._write_rows([*nodes, *dots]))
        if self._has("-R"):
            for node in self._sort(node for node in nodes if node.kind == "directory"):
                self._list_folder(
                    replace(node, name=f"{folder.name.rstrip('/')}/{node.name}"), named=True
                )

    def _sort(self, nodes: Iterable[Node]) -> list[Node]:
        found = sorted(nodes, key=lambda node: node.name.encode())
        order = self._last("-S", "-t", "-v")
        if order == "-v":
            found.sort(
                key=lambda node: [
                    int(p) if p.isdecimal() else p for p in DIGITS.split(node.name)
                ]
            )
        elif order:
            found.sort(key=lambda node: -node.size if order == "-S" else -node.modified)
        return found[::-1] if self._has("-r") else found

    def _write_rows(self, nodes: list[Node]) -> str:
        table = [self._columns(node) for node in self._sort(nodes)]
        # The name is the last column; every other is as wide as its widest cell, with its content on the right.
        widths = [max(map(len, column)) for column in zip(*table, strict=True)][:-1]
        cells = (
            [f"{cell:>{width}}" for cell, width in zip(row, widths, strict=False)]
            for row in table
        )
        return "".join(
            " ".join((*left, row[-1])) + "\n"
            for left, row in zip(cells, table, strict=True)
        )

    def _columns(self, node: Node) -> list[str]:
        if not self._long:
            return [self._name(node)]
        mode = stat.filemode(TYPES.get(node.kind, stat.S_IFREG) | node.mode)
        links = "2" if node.kind == "directory" else "1"
        moment = datetime.datetime.fromtimestamp(node.modified, datetime.UTC)
        # GNU names the year of a file that is older than half a year.
        clock = f"{moment:%H:%M}" if node.modified else f" {moment:%Y}"
        time = f"{moment:%b} {moment.day:>2} {clock}"
        return [mode, links, OWNER, OWNER, self._size(node.size, 1), time, self._name(node)]

    def _size(self, count: int, unit: int) -> str:
        """Return a size; with -h in the largest fitting unit, rounded up as GNU does."""
        if not self._has("-h"):
            return str(count)
        value = float(count * unit)
        steps = 0
        while value >= 1024:
            value = value / 1024
            steps = steps + 1
        tenths = math.ceil(value * 10)
        return (
            f"{tenths / 10:.1f}" if steps and tenths < 100 else f"{math.ceil(value)}"
        ) + UNITS[steps]

    def _name(self, node: Node) -> str:
        if self._long and node.kind == "symlink":
            return f"{node.name} -> {self._call.files.read_link(node.path)}"
        if self._has("-F", "-p") and node.kind == "directory":
            return node.name + "/"
        if self._has("-F"):
            return node.name + (
                "@" if node.kind == "symlink" else "*" if node.mode & stat.S_IXUSR else ""
            )
        return node.name

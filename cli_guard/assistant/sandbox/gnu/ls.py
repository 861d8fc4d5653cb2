"""`ls` as GNU prints it to a pipe: one name a line, in the order of bytes.

A file has the time of the epoch unless the call has written it: a snapshot knows no times, and the same call must
give the same output.
"""

import datetime
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
UNITS = "KMGT"
TROUBLE = 2
HALF_YEAR_SECONDS = 15_778_476
OWNER = "user"
DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Node:
    """A file, link or folder; `size` is in bytes, `modified` in seconds since the epoch."""

    name: str
    path: str
    kind: str
    size: int
    mode: int
    modified: float

    @property
    def is_folder(self) -> bool:
        """Is it a folder?"""
        return self.kind == "directory"


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
        self._options = options
        self._has = options.has
        self._long = options.has("-l")
        self._errors: list[str] = []
        self._blocks: list[str] = []
        self._entries: dict[str, dict[str, dict[str, Any]]] = {}

    def answer(self) -> Answer:
        """Return what is printed: the files first, then each folder under its name."""
        operands = [*self._options.words, *(self._options.paths or ())] or ["."]
        nodes = [node for name in operands if (node := self._find(name))]
        plain = [node for node in nodes if self._has("-d") or not self._opens(node)]
        folders = [node for node in nodes if node not in plain]
        if plain:
            self._blocks.append(self._write_rows(plain))
        for folder in self._sort(folders):
            self._list_folder(folder, named=len(operands) > 1 or self._has("-R"))
        errors = "".join(f"ls: cannot access '{error}\n" for error in self._errors)
        return Answer("\n".join(self._blocks).encode(), errors.encode(), TROUBLE if errors else 0)

    def _last(self, letters: str) -> str:
        """Return the last given of some options that exclude each other, "" for none."""
        return next((name[1] for name in reversed(self._options.values) if name[1] in letters), "")

    def _opens(self, node: Node) -> bool:
        """Is an operand listed by what is in it? A link to a folder is, unless the link is described."""
        if node.kind != "symlink":
            return node.is_folder
        return not self._long and self._call.is_folder(node.path)

    def _find(self, name: str) -> Node | None:
        path = self._call.absolute(name)
        parent, _, last = path.rpartition("/")
        parent = parent or "/"
        try:
            if parent not in self._entries:  # `ls *.txt` asks for the same folder again and again
                listed = self._call.files.read_dir(parent)
                self._entries[parent] = {each["name"]: each["metadata"] for each in listed}
            about = self._entries[parent].get(last) or self._call.files.stat(path)
        except (RuntimeError, OSError):
            self._errors.append(f"{name}': No such file or directory")
            return None
        if name.endswith("/") and not self._call.is_folder(path):
            self._errors.append(f"{name}': Not a directory")
            return None
        return self._node(name, path, about)

    def _node(self, name: str, path: str, about: dict[str, Any]) -> Node:
        kind, mode, modified = about["file_type"], stat.S_IMODE(about["mode"]), about["modified"]
        size = BLOCK if kind == "directory" else about["size"]
        return Node(name, path, kind, size, mode, modified if modified >= self._call.started_at else 0.0)

    def _list_folder(self, folder: Node, *, named: bool) -> None:
        nodes = [
            self._node(each["name"], f"{folder.path}/{each['name']}", each["metadata"])
            for each in self._call.files.read_dir(folder.path)
            if self._has("-a", "-A") or not each["name"].startswith(".")
        ]
        dots = (".", "..") if self._last("aA") == "a" else ()
        shown = [*nodes, *(Node(dot, folder.path, "directory", BLOCK, 0o755, 0.0) for dot in dots)]
        head = f"{folder.name}:\n" if named else ""
        if self._long:
            blocks = sum(-(-node.size // BLOCK) for node in shown if node.kind != "symlink")
            head += f"total {self._size(blocks * (BLOCK // 1024), 1024)}\n"
        self._blocks.append(head + self._write_rows(shown))
        if self._has("-R"):
            for node in self._sort(node for node in nodes if node.is_folder):
                self._list_folder(replace(node, name=f"{folder.name.rstrip('/')}/{node.name}"), named=True)

    def _sort(self, nodes: Iterable[Node]) -> list[Node]:
        found = sorted(nodes, key=lambda node: node.name.encode())
        order = self._last("Stv")
        if order == "S":
            found.sort(key=lambda node: -node.size)
        elif order == "t":
            found.sort(key=lambda node: -node.modified)
        elif order == "v":
            found.sort(key=lambda node: [int(p) if p.isdecimal() else p for p in DIGITS.split(node.name)])
        if self._has("-r"):
            found.reverse()
        return found

    def _write_rows(self, nodes: list[Node]) -> str:
        table = [self._columns(node) for node in self._sort(nodes)]
        # The name is the last column; every other is as wide as its widest cell, with its content on the right.
        widths = [max(map(len, column)) for column in zip(*table, strict=True)][:-1]
        cells = ([f"{cell:>{width}}" for cell, width in zip(row, widths, strict=False)] for row in table)
        return "".join(" ".join((*left, row[-1])) + "\n" for left, row in zip(cells, table, strict=True))

    def _columns(self, node: Node) -> list[str]:
        if not self._long:
            return [self._name(node)]
        types = {"directory": stat.S_IFDIR, "symlink": stat.S_IFLNK}
        mode = stat.filemode(types.get(node.kind, stat.S_IFREG) | node.mode)
        links = "2" if node.is_folder else "1"
        return [mode, links, OWNER, OWNER, self._size(node.size, 1), self._time(node), self._name(node)]

    def _size(self, count: int, unit: int) -> str:
        """Return a size; with -h in the largest fitting unit, rounded up as GNU does."""
        if not self._has("-h"):
            return str(count)
        value, steps = float(count * unit), 0
        while value >= 1024 and steps < len(UNITS):
            value, steps = value / 1024, steps + 1
        if not steps:
            return str(int(value))
        tenths = -int(-value * 10 // 1)
        return (f"{tenths / 10:.1f}" if tenths < 100 else f"{-int(-value // 1)}") + UNITS[steps - 1]

    def _time(self, node: Node) -> str:
        moment = datetime.datetime.fromtimestamp(node.modified, datetime.UTC)
        is_recent = self._call.started_at - node.modified < HALF_YEAR_SECONDS
        last = f"{moment:%H:%M}" if is_recent else f" {moment:%Y}"
        return f"{moment:%b} {moment.day:>2} {last}"

    def _name(self, node: Node) -> str:
        if self._long and node.kind == "symlink":
            return f"{node.name} -> {self._call.files.read_link(node.path)}"
        if self._has("-F", "-p") and node.is_folder:
            return node.name + "/"
        if self._has("-F"):
            return node.name + ("@" if node.kind == "symlink" else "*" if node.mode & stat.S_IXUSR else "")
        return node.name

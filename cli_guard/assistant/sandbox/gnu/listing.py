"""`ls` as GNU prints it to a pipe: one name a line, in the order of bytes.

A file has the time of the epoch unless the call has written it: a snapshot knows no times, and the same call must
give the same output.
"""

import datetime
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from cli_guard.assistant.sandbox.commands.model import Answer, Call
from cli_guard.assistant.sandbox.gnu.words import BadOption, Words, read_words

LETTERS = "aAlL1drRStcuUpFhinogGsvXxCmNQbqkZfBH"
LONG = {
    "all": "a",
    "almost-all": "A",
    "directory": "d",
    "reverse": "r",
    "recursive": "R",
    "human-readable": "h",
    "inode": "i",
    "numeric-uid-gid": "n",
    "no-group": "G",
    "size": "s",
    "classify": "F",
    "dereference": "L",
    "color": "N",
    "group-directories-first": "#",
    "literal": "N",
    "ignore-backups": "B",
    "file-type": "f",
}
BLOCK = 4096
UNITS = "KMGT"
TROUBLE = 2
HALF_YEAR = 15_778_476
OWNER = "user"


@dataclass(frozen=True, slots=True)
class Node:
    """What lies under a name."""

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

    @property
    def blocks(self) -> int:
        """Kibibytes on a disk with blocks of BLOCK bytes."""
        if self.kind == "symlink":
            return 0
        return BLOCK // 1024 if self.is_folder else -(-self.size // BLOCK) * (BLOCK // 1024)


def ls(call: Call) -> Answer:
    """Lists files and folders."""
    try:
        words = read_words(call.arguments, LETTERS, LONG)
    except BadOption as bad:
        return Answer(stderr=f"ls: {bad}\n".encode(), exit_code=TROUBLE)
    return Listing(call, words).answer()


class Listing:
    """One call of `ls`."""

    def __init__(self, call: Call, words: Words) -> None:
        self._call = call
        self._words = words
        self._long = words.has("l", "n", "o", "g")
        self._errors: list[str] = []
        self._blocks: list[str] = []
        self._folders: dict[str, dict[str, dict[str, object]]] = {}

    def answer(self) -> Answer:
        """What is printed: the files first, then each folder under its name."""
        operands = self._words.operands or ["."]
        nodes = [node for name in operands if (node := self._node(name))]
        plain = [node for node in nodes if self._words.has("d") or not self._opens(node)]
        folders = [node for node in nodes if node not in plain]
        if plain:
            self._blocks.append("".join(self._rows(plain)))
        named = len(operands) > 1 or self._words.has("R")
        for folder in self._sorted(folders):
            self._folder(folder, named)
        out = "\n".join(self._blocks)
        return Answer(
            out.encode("utf-8"), "".join(self._errors).encode("utf-8"), TROUBLE if self._errors else 0
        )

    def _opens(self, node: Node) -> bool:
        """Is an operand listed by what is in it? A link to a folder is, unless it is described."""
        if node.kind != "symlink":
            return node.is_folder
        if self._long and not self._words.has("L", "H"):
            return False
        try:
            return bool(self._call.files.stat(node.path)["file_type"] == "directory")
        except (RuntimeError, OSError):
            return False

    def _listed(self, folder: str) -> dict[str, dict[str, object]]:
        """What is in a folder, read once: `ls *.txt` asks for the same one again and again."""
        if folder not in self._folders:
            self._folders[folder] = {
                each["name"]: each["metadata"] for each in self._call.files.read_dir(folder)
            }
        return self._folders[folder]

    def _node(self, name: str) -> Node | None:
        path = self._call.absolute(name)
        files = self._call.files
        try:
            parent, _, last = path.rpartition("/")
            about = self._listed(parent or "/").get(last) or files.stat(path)
            if name.endswith("/") and files.stat(path)["file_type"] != "directory":
                self._errors.append(f"ls: cannot access '{name}': Not a directory\n")
                return None
        except (RuntimeError, OSError):
            self._errors.append(f"ls: cannot access '{name}': No such file or directory\n")
            return None
        return node_of(name, path, about, self._call.began)

    def _folder(self, folder: Node, named: bool) -> None:
        try:
            listed = self._call.files.read_dir(folder.path)
        except (RuntimeError, OSError):
            self._errors.append(f"ls: cannot open directory '{folder.name}': No such file or directory\n")
            return
        began = self._call.began
        nodes = [
            node_of(each["name"], f"{folder.path}/{each['name']}", each["metadata"], began) for each in listed
        ]
        if not self._words.has("a", "A", "f"):
            nodes = [node for node in nodes if not node.name.startswith(".")]
        if self._words.has("B"):
            nodes = [node for node in nodes if not node.name.endswith("~")]
        shown = list(nodes)
        if self._words.last("aA") == "a":
            shown += [Node(dot, folder.path, "directory", BLOCK, 0o755, 0.0) for dot in (".", "..")]
        head = f"{folder.name}:\n" if named else ""
        if self._long or self._words.has("s"):
            head += f"total {self._human(sum(node.blocks for node in shown), 1024)}\n"
        self._blocks.append(head + "".join(self._rows(shown)))
        if self._words.has("R"):
            for node in self._sorted(nodes):
                if node.is_folder:
                    name = f"{folder.name.rstrip('/')}/{node.name}"
                    self._folder(Node(name, node.path, node.kind, node.size, node.mode, node.modified), named)

    def _sorted(self, nodes: Iterable[Node]) -> list[Node]:
        """In the order that was asked for."""
        order = self._words.last("StXvU")
        keys: dict[str, Callable[[Node], object]] = {
            "S": lambda node: -node.size,
            "t": lambda node: -node.modified,
            "X": lambda node: suffix(node.name),
            "v": lambda node: [
                (part.isdigit(), int(part) if part.isdigit() else part) for part in parts(node.name)
            ],
        }
        found = sorted(nodes, key=lambda node: node.name.encode("utf-8"))
        if order in keys:
            found.sort(key=keys[order])  # type: ignore[arg-type]
        if self._words.has("r"):
            found.reverse()
        if self._words.has("#"):
            found.sort(key=lambda node: not node.is_folder)
        return found

    def _rows(self, nodes: list[Node]) -> list[str]:
        """The lines of some files."""
        found = self._sorted(nodes)
        if not self._long:
            if self._words.last("m1Cxl") == "m":
                return [", ".join(self._name(node) for node in found) + "\n"] if found else []
            return [f"{self._block_column(node, found)}{self._name(node)}\n" for node in found]
        table = [self._columns(node) for node in found]
        widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))] if table else []
        lines = []
        for row, node in zip(table, found, strict=True):
            cells = [
                cell.ljust(width) if cell[:1].isalpha() else cell.rjust(width)
                for cell, width in zip(row, widths, strict=True)
            ]
            mode = stat.filemode(type_of(node) | node.mode)
            lines.append(
                f"{self._block_column(node, found)}{mode} {' '.join(cells)} {self._time(node)} {self._name(node)}\n"
            )
        return lines

    def _block_column(self, node: Node, among: list[Node]) -> str:
        """The size on disk in front of a line, as -s asks for it."""
        if not self._words.has("s"):
            return ""
        width = max(len(self._human(each.blocks, 1024)) for each in among)
        return f"{self._human(node.blocks, 1024):>{width}} "

    def _columns(self, node: Node) -> list[str]:
        """Links, owner, group and size."""
        owner = "1000" if self._words.has("n") else OWNER
        cells = ["2" if node.is_folder else "1"]
        cells += [] if self._words.has("g") else [owner]
        cells += [] if self._words.has("o", "G") else [owner]
        return [*cells, self._human(BLOCK if node.is_folder else node.size, 1)]

    def _human(self, count: int, unit: int) -> str:
        """A size; with -h in the largest fitting unit, rounded up as GNU does."""
        if not self._words.has("h"):
            return str(count)
        value, steps = float(count * unit), 0
        while value >= 1024 and steps < len(UNITS):
            value, steps = value / 1024, steps + 1
        if not steps:
            return str(int(value))
        tenths = -int(-value * 10 // 1)
        return (
            f"{tenths / 10:.1f}{UNITS[steps - 1]}"
            if tenths < 100
            else f"{-int(-value // 1)}{UNITS[steps - 1]}"
        )

    def _time(self, node: Node) -> str:
        moment = datetime.datetime.fromtimestamp(node.modified, datetime.UTC)
        late = self._call.began - node.modified < HALF_YEAR
        return f"{moment:%b} {moment.day:>2} " + (f"{moment:%H:%M}" if late else f" {moment:%Y}")

    def _name(self, node: Node) -> str:
        """The name, with what marks its kind."""
        mark = ""
        if self._words.has("F", "p") and node.is_folder:
            mark = "/"
        elif self._words.has("F") and node.kind == "symlink":
            mark = "" if self._long else "@"
        elif self._words.has("F") and node.mode & stat.S_IXUSR:
            mark = "*"
        name = f'"{node.name}"' if self._words.has("Q") else node.name
        if self._long and node.kind == "symlink":
            return f"{name} -> {self._call.files.read_link(node.path)}"
        return name + mark


def node_of(name: str, path: str, about: dict[str, object], began: float) -> Node:
    """A node of what the file system tells."""
    modified, size, mode = about["modified"], about["size"], about["mode"]
    assert isinstance(modified, float) and isinstance(size, int) and isinstance(mode, int)  # noqa: S101
    kind = str(about["file_type"])
    return Node(
        name,
        path,
        kind,
        BLOCK if kind == "directory" else size,
        stat.S_IMODE(mode),
        modified if modified >= began else 0.0,
    )


def type_of(node: Node) -> int:
    """The bits of the mode that tell the kind."""
    return {"directory": stat.S_IFDIR, "symlink": stat.S_IFLNK}.get(node.kind, stat.S_IFREG)


def suffix(name: str) -> bytes:
    """What stands behind the last dot."""
    at = name.rfind(".")
    return name[at:].encode("utf-8") if at > 0 else b""


def parts(name: str) -> list[str]:
    """The runs of digits and of other signs."""
    found: list[str] = []
    for sign in name:
        if found and found[-1][-1].isdigit() == sign.isdigit():
            found[-1] += sign
        else:
            found.append(sign)
    return found

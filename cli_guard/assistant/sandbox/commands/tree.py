"""`tree` and `fd` over the files of the sandbox, sorted by name, as they print to a pipe.

Sources: tree(1) 2.1, fd(1) 8.6. The interpreter has no `fd`, and its `tree` neither patterns nor an order of folders.
"""

import posixpath
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from itertools import compress

from cli_guard.assistant.sandbox.commands.command import (
    CommandOptions,
    OwnCommand,
    read_options,
    run_tool,
)
from cli_guard.assistant.sandbox.model import (
    CommandCall,
    CommandFailure,
    CommandOutput,
    WrongUsage,
)
from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_table

OPTIONS = read_table("sandbox.toml")["listing"]
TYPES = {"f": "file", "d": "directory", "l": "symlink", "x": "executable"}
RUNNING = {"-x", "-X", "--exec", "--exec-batch"}
MOST_LEVELS = 500


@frozen
class ListedPath:
    """A file, link or folder; `path` begins with the folder that was named. `level` counts from 1."""

    path: str
    kind: str
    level: int
    executable: bool = False

    @property
    def name(self) -> str:
        """Return the last part of its path."""
        return posixpath.basename(self.path)


Inside = Mapping[str, list[ListedPath]]


def read_number(options: CommandOptions, name: str, default: int) -> int:
    value = options.values.get(name, str(default))
    if not value.isdecimal():
        raise WrongUsage(f"{name} needs a number, not {value!r}")
    return min(int(value), default)


def matches_one(globs: list[str], *names: str) -> bool:
    return any(fnmatchcase(name, glob.rstrip("/")) for glob in globs for name in names)


def list_below(
    call: CommandCall, top: str, levels: int, excluded: list[str], *, hidden: bool
) -> Inside:
    """Return folder -> what is in it, by name. Raises CommandFailure if `top` is no folder."""
    if not call.is_folder(top):
        raise CommandFailure(f"no folder {top} here: see what is there with ls")
    inside: dict[str, list[ListedPath]] = {}
    waiting = [(top, 1)]
    while waiting:
        folder, level = waiting.pop()
        rows = inside[folder] = []
        for each in sorted(
            call.files.read_dir(call.absolute(folder)),
            key=lambda each: str(each["name"]).encode(),
        ):
            name = each["name"]
            kind = each["metadata"]["file_type"]
            path = f"{folder.rstrip('/')}/{each['name']}"
            is_hidden = name.startswith(".") and not hidden
            if is_hidden or matches_one(
                excluded, name, path.removeprefix(f"{top.rstrip('/')}/")
            ):
                continue
            rows.append(
                ListedPath(
                    path,
                    kind,
                    level,
                    kind == "file" and bool(each["metadata"]["mode"] & 0o100),
                )
            )
            if kind == "directory" and level < levels:
                waiting.append((path, level + 1))
    return inside


def tree(call: CommandCall) -> str:
    """Draw folders as trees."""
    options = read_options(call.arguments, OPTIONS["tree"])
    has = options.has
    excluded, wanted = (
        [glob for value in options.every(name) for glob in value.split("|")]
        for name in ("-I", "-P")
    )
    lines = []
    counts = {"directory": 0, "file": 0}

    def keep(each: ListedPath) -> bool:
        is_wanted = not has("-d") and (not wanted or matches_one(wanted, each.name))
        return (
            is_wanted
            if each.kind != "directory"
            else bool(not has("--prune") or inside.get(each.path))
        )

    for top in (*options.words, *(options.paths or ())) or (".",):
        inside = list_below(
            call, top, read_number(options, "-L", MOST_LEVELS), excluded, hidden=has("-a")
        )
        # A folder is longer than those above it: what it holds is known first.
        for folder in sorted(inside, key=len, reverse=True):
            inside[folder][:] = filter(keep, inside[folder])
        lines.append(top)
        counts["directory"] += 1
        draw_below(call, inside, top, has, lines, counts)
    if not has("--noreport"):
        words = ("directory", "directories"), ("file", "files")
        report = [
            f"{n} {word[n != 1]}" for n, word in zip(counts.values(), words, strict=True)
        ]
        lines += ["", ", ".join(report[:1] if has("-d") else report)]
    return "\n".join(lines)


def draw_below(
    call: CommandCall,
    inside: Inside,
    top: str,
    has: Callable[..., bool],
    lines: list[str],
    counts: dict[str, int],
) -> None:
    """Add a line for each file and folder below `top`, and count them."""
    waiting: list[tuple[str, bool, ListedPath]] = []

    def add(before: str, folder: str) -> None:
        rows = inside.get(folder, [])
        rows = (
            sorted(rows, key=lambda each: each.kind != "directory")
            if has("--dirsfirst")
            else rows
        )
        waiting.extend((before, each is rows[-1], each) for each in reversed(rows))

    add("", top)
    while waiting:
        before, is_last, each = waiting.pop()
        mark = ""
        if each.kind == "symlink":
            mark = f" -> {call.files.read_link(call.absolute(each.path))}"
        corner = "└── " if is_last else "├── "
        branch = "" if has("-i") else before + corner
        lines.append(branch + (each.path if has("-f") else each.name) + mark)
        counts["directory" if each.kind == "directory" else "file"] += 1
        # tree(1) draws with spaces that do not break.
        add(before + ("    " if is_last else "│\u00a0\u00a0 "), each.path)


def fd(call: CommandCall) -> CommandOutput:
    """Find files and folders by a pattern for their name."""
    if RUNNING.intersection(call.arguments):
        raise WrongUsage("no command can be run on each here: write fd ... | xargs COMMAND")
    options = read_options(call.arguments, OPTIONS["fd"], OPTIONS["fd_long"])
    has = options.has
    pattern, *tops = (*options.words, *(options.paths or ())) or ("",)
    kinds = {TYPES.get(name[:1], name) for name in options.every("-t")}
    if unknown := kinds - {*TYPES.values()}:
        raise WrongUsage(f"-t takes f, d, l and x, not {', '.join(sorted(unknown))}")
    endings = tuple(f".{each.lstrip('.')}".lower() for each in options.every("-e"))
    levels = read_number(options, "-d", MOST_LEVELS)
    found = [
        each
        for top in tops or ["."]
        for rows in list_below(
            call, top, levels, options.every("-E"), hidden=has("-H", "-u")
        ).values()
        for each in rows
        if (not kinds or each.kind in kinds or (each.executable and "executable" in kinds))
        and (
            not endings
            or (each.name.lower().endswith(endings) and each.kind != "directory")
        )
    ]
    found.sort(key=lambda each: each.path.encode())
    names = [call.absolute(each.path) if has("-p") else each.name for each in found]
    if has("-g"):
        chosen = [fnmatchcase(name, pattern or "*") for name in names]
    else:
        numbers = find_lines(pattern, names, "-i" if has("-i") else "-S")
        chosen = [n in numbers for n in range(1, len(names) + 1)]
    rows = []
    for each in compress(found, chosen):
        path = each.path if tops else each.path.removeprefix("./")
        if has("-a"):
            path = call.absolute(each.path)
        rows.append(path + "/" * (each.kind == "directory"))
    end = "\0" if has("-0") else "\n"
    return CommandOutput("".join(row + end for row in rows).encode())


def find_lines(pattern: str, lines: list[str], case: str) -> set[int]:
    """Return the numbers of the lines that a regular expression matches, from 1 on. Raises CommandFailure.

    The interpreter's `rg` decides: the same language as fd has, in a time that grows with the lines alone.
    """
    words = ("rg", "-n", case, "-e", pattern, "/lines")
    done = run_tool(words, {"/lines": "\n".join(lines) + "\n"})
    if done.exit_code > 1:
        raise CommandFailure(done.stderr.strip() or "the pattern is invalid")
    return (
        {int(line.partition(":")[0]) for line in done.stdout.splitlines()}
        if lines
        else set()
    )


TREE = OwnCommand(
    "tree",
    "folders as a tree",
    "[-L LEVELS] [-d] [-a] [-I 'A|B'] [-P GLOB] [--prune] [--dirsfirst] [-f] [-i] [FOLDER...]",
    run=tree,
)
FD = OwnCommand(
    "fd",
    "find files and folders by a regular expression for their name",
    "[-e EXT] [-t f|d|l|x] [-H] [-E GLOB] [-g] [-d LEVELS] [-p] [PATTERN] [FOLDER...]",
    run=fd,
)

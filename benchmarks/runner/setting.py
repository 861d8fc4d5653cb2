"""Read the part of a task file that describes the set-up: files, and the steps that make the repository."""

import re

from benchmarks.packages import NAMED
from benchmarks.runner.contents import GENERATORS
from benchmarks.runner.fields import Table
from benchmarks.runner.model import Content, Files, Setup, Step
from benchmarks.runner.scratch import OWN_FOLDERS, leads_out
from cli_guard.errors import ConfigError

MOST_BYTES = 50_000_000
MOST_STEPS = 200

FILES = ("files", "remove", "rename")
# The steps in a repository, and the keys that each may have.
VERBS = {
    "commit": ("message", "author", *FILES),
    "stage": FILES,
    "write": FILES,
    "branch": ("name", "to"),
    "switch": ("name",),
    "delete-branch": ("name",),
    "reset": ("to",),
    "merge": ("name", "message"),
    "stash": (),
    "tag": ("name", "message"),
}
# The steps after the answer. `write` and `stage` change the files that the answer is about.
PERSON = {
    "approve": ("status", "says"),
    "reject": ("status", "says"),
    "undo": ("status", "says"),
    "again": ("status", "says"),
    "write": FILES,
    "stage": FILES,
}
ENDS = {"again": ("ok", "needs_review", "failed"), "approve": ("ok", "failed", "refused")}
# Names of branches and revisions: not an option, not a range, nothing that Git would read in another way.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*(?:[~^][0-9]*)*")


def setup_of(table: Table, world: str) -> Setup:
    """Read `[repository]`. Raises ConfigError."""
    memory = world == "memory"
    table.only(
        ("files", "base", "test_results")
        if memory
        else ("package", "files", "outside", "steps")
    )
    package = table.text("package")
    if package and not NAMED.fullmatch(package):
        raise table.wrong("package", "pypi:NAME==VERSION or npm:NAME==VERSION")
    setup = Setup(
        package=package,
        files=files_of(table, "files"),
        base=files_of(table, "base"),
        outside=files_of(table, "outside"),
        steps=tuple(step_of(each, VERBS) for each in table.tables("steps")),
        test_results=table.strings("test_results"),
    )
    for path in setup.outside:
        if path.split("/")[0] in OWN_FOLDERS:
            raise ConfigError(
                f"{table.source}: 'repository.outside': {path!r} is taken: choose another name"
            )
    tables = (setup.files, setup.base, setup.outside, *(step.files for step in setup.steps))
    size = sum(
        len(each.text or "") + each.size for files in tables for each in files.values()
    )
    if size > MOST_BYTES or len(setup.steps) > MOST_STEPS:
        bounds = f"{MOST_BYTES:,} bytes in {MOST_STEPS} steps"
        raise ConfigError(f"{table.source}: 'repository' holds more than {bounds}")
    plain = (
        each.text is not None
        for files in (setup.files, setup.base)
        for each in files.values()
    )
    if memory and not all(plain):
        raise ConfigError(
            f"{table.source}: 'repository.files' of a task in memory must hold plain text alone"
        )
    return setup


def step_of(table: Table, verbs: dict[str, tuple[str, ...]]) -> Step:
    """Read one step. Raises ConfigError."""
    do = table.require("do").choice("do", verbs)
    table.only(("do", *verbs[do]))
    for key in ("name", "to"):
        if key in table.data and not NAME.fullmatch(table.text(key)):
            raise table.wrong(key, "the name of a branch, a tag or a revision")
    if "name" in verbs[do]:
        table.require("name")
    rename = table.strings("rename")
    for path in (*rename, *rename.values(), *(table.words("remove") or ())):
        check_path(table, path)
    return Step(
        do=do,
        files=files_of(table, "files"),
        remove=table.words("remove") or (),
        rename=rename,
        message=table.text("message", do),
        author=table.text("author", "Ada"),
        name=table.text("name"),
        to=table.text("to", "HEAD"),
        status=table.choice("status", ENDS.get(do, ("ok", "refused")), "ok"),
        says=table.words("says") or (),
    )


def files_of(table: Table, key: str) -> Files:
    """Read a table of files: path -> text, or path -> a table for other content. Raises ConfigError."""
    inner = table.table(key)
    found = {}
    for path, value in inner.data.items():
        check_path(inner, path)
        found[path] = (
            Content(inner.text(path))
            if isinstance(value, str)
            else content_of(inner.table(path))
        )
    return found


def content_of(table: Table) -> Content:
    """Read a file that is generated, a link or executable. Raises ConfigError."""
    table.only(("text", "generate", "size", "link", "executable"))
    kinds = [key for key in ("text", "generate", "link") if key in table.data]
    if len(kinds) != 1:
        raise ConfigError(
            f"{table.source}: {table.invocation!r} must hold one of text, generate and link"
        )
    return Content(
        text=table.text("text") if "text" in table.data else None,
        generate=table.choice("generate", GENERATORS) if "generate" in table.data else None,
        size=int(table.number("size", 0, least=0, most=MOST_BYTES)),
        link=table.text("link") if "link" in table.data else None,
        executable=bool(table.flag("executable")),
    )


def check_path(table: Table, path: str) -> str:
    """Return a path below the repository. Raises ConfigError for one that could lead out of it."""
    if leads_out(path):
        raise ConfigError(
            f"{table.source}: {table.invocation!r}: {path!r} is not a path below the repository: take out .., .git and"
            " a leading /"
        )
    return path

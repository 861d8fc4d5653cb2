"""What everybody runs in a project of some kind, told by a file that makes it one; and scripts named for a purpose."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from cli_guard.assistant.projects.files import Files, folder_of, quoted, within
from cli_guard.assistant.projects.model import Purpose
from cli_guard.assistant.projects.purposes import purpose_called, purpose_of, read
from cli_guard.assistant.projects.sources.found import Found
from cli_guard.assistant.projects.sources.python_tools import runner

SCRIPT_FOLDERS = ("scripts", "script", "bin", "dev", "tools", "hack", "ci", "tests", "test", "")
SCRIPT = re.compile(r"(?P<stem>[a-z][\w-]*)(?P<ending>\.sh|\.bash|\.py|\.js|\.mjs|\.ts|\.rb)?")
# A script outside a folder for scripts must be named for its purpose, or any module would be one.
ROOT_SCRIPT = re.compile(
    r"(?:run)?[-_]?(?:tests?|lint|build|format|fmt|check)s?\.(?:sh|py)|runtests\.py|do|x\.py"
)
GO_MAIN = re.compile(r"cmd/[\w.-]+/main\.go")
HOOK = re.compile(
    r"^[ \t]*-[ \t]*id:[ \t]*[\"']?(ruff-format|black|isort|prettier|gofmt|go-fmt|rustfmt|fmt|"
    r"clang-format|shfmt|mypy|pyright|ty)[\"']?[ \t]*$",
    re.MULTILINE,
)
NO_SCRIPT = frozenset({"__init__", "conftest", "setup", "common", "utils", "util", "lib", "helpers"})


@dataclass(frozen=True, slots=True)
class Usual:
    """One command of a kind of project, and what must be the case."""

    purpose: Purpose
    command: str
    needs: re.Pattern[str] | None
    beside: re.Pattern[str] | None


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of project."""

    file: re.Pattern[str]
    what: str
    needs: re.Pattern[str] | None
    wrapper: tuple[str, ...]
    python: bool
    anywhere: bool
    last: bool
    commands: tuple[Usual, ...]


@cache
def kinds() -> tuple[Kind, ...]:
    """The data, read once."""
    return tuple(
        Kind(
            re.compile(each["file"]),
            each["what"],
            _pattern(each.get("needs")),
            tuple(each.get("wrapper", ())),
            each.get("front") == "python",
            each.get("anywhere", False),
            each.get("last", False),
            tuple(
                Usual(
                    purpose_called(usual["purpose"]),
                    usual["command"],
                    _pattern(usual.get("needs")),
                    _pattern(usual.get("with")),
                )
                for usual in each["commands"]
            ),
        )
        for each in read("conventions")["kind"]
    )


def _pattern(text: str | None) -> re.Pattern[str] | None:
    return re.compile(text) if text else None


def conventions(files: Files) -> Iterator[Found]:
    """The usual commands of each kind that the repository is."""
    for kind in kinds():
        paths = files.like(kind.file)
        # The parts of one project have such files too: what stands nearest the root is the whole.
        nearest = min((path.count("/") for path in paths), default=0)
        for path in paths:
            if path.count("/") > nearest and not kind.anywhere:
                break
            yield from _of_kind(files, kind, path)
    for path in files.named(".pre-commit-config.yaml"):
        if "/" not in path:
            yield from _hooks(path, files.read(path))
    for path in files.named("main.go"):
        if GO_MAIN.fullmatch(path):
            yield Found(
                f"go run ./{folder_of(path)}", path, 1, "a program of the module", "", "convention", "run"
            )


def _hooks(path: str, text: str) -> Iterator[Found]:
    """One hook of pre-commit alone, where it is for a purpose of its own."""
    for found in HOOK.finditer(text):
        purpose: Purpose = "typecheck" if found[1] in ("mypy", "pyright", "ty") else "format"
        line = text.count("\n", 0, found.start(1)) + 1
        yield Found(
            f"pre-commit run {found[1]} --all-files",
            path,
            line,
            "a hook of pre-commit",
            "",
            "convention",
            purpose,
            1,
        )


def _of_kind(files: Files, kind: Kind, path: str) -> Iterator[Found]:
    text = files.read(path)
    if kind.needs and not kind.needs.search(text):
        return
    folder = folder_of(path)
    front = runner(files) if kind.python else ""
    for rank, usual in enumerate(kind.commands):
        if usual.needs and not usual.needs.search(text):
            continue
        inside = f"{folder}/" if folder else ""
        if usual.beside and not any(
            usual.beside.search(each.removeprefix(inside)) for each in files.texts if each.startswith(inside)
        ):
            continue
        command = front + usual.command.replace("{folder}", quoted(folder or "."))
        if kind.wrapper and files.has(inside + kind.wrapper[0]):
            command = re.sub(rf"^{kind.wrapper[1]}\b", kind.wrapper[2], command)
        placed = command if kind.anywhere else within(folder, command)
        yield Found(
            placed,
            path,
            1,
            f"the usual command of {kind.what}",
            "",
            "convention",
            usual.purpose,
            rank + 50 * kind.last,
        )


def scripts(files: Files) -> Iterator[Found]:
    """Scripts whose names are for a purpose: `scripts/test`, `bin/lint.sh`, `tests/runtests.py`."""
    for path in sorted(files.texts):
        folder, _, name = path.rpartition("/")
        if folder not in SCRIPT_FOLDERS or folder.count("/") > 1:
            continue
        if folder in ("", "tests", "test") and not ROOT_SCRIPT.fullmatch(name):
            continue
        found = SCRIPT.fullmatch(name)
        if not found or found["stem"] in NO_SCRIPT:
            continue
        text = files.texts[path][:2_000]
        stem = found["stem"]
        purpose, fit = purpose_of(stem, "")
        if purpose == "other" or fit > 1 or not (text.startswith("#!") or found["ending"]):
            continue
        files.read(path)
        yield Found(
            _run(path, text, found["ending"] or ""), path, 1, _gist(text), stem, purpose=purpose, rank=fit
        )


def _run(path: str, text: str, ending: str) -> str:
    if ending == ".py":
        return f"python {quoted(path)}"
    if text.startswith("#!"):
        return f"./{quoted(path)}" if "/" not in path else quoted(path)
    return {".sh": "sh", ".bash": "bash", ".rb": "ruby", ".js": "node", ".mjs": "node", ".ts": "npx tsx"}[
        ending
    ] + f" {quoted(path)}"


def _gist(text: str) -> str:
    """The first comment of a script that says something, or its first commands."""
    lines = [line.strip() for line in text.split("\n")[:60] if line.strip()]
    ran = [line for line in lines if not line.startswith(("#", "set ", '"""', "import ", "from ", "export "))]
    return "; ".join(ran[:4])

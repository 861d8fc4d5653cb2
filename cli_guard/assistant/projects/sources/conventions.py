"""What everybody runs in a project of some kind, shown by a file that makes it one; and scripts named for a purpose."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from cli_guard.assistant.projects.files import Files, folder_of, line_of, quote_word, within
from cli_guard.assistant.projects.model import Found
from cli_guard.assistant.projects.purposes import as_purpose, purpose_of, read
from cli_guard.assistant.projects.sources.environments import python_front

SCRIPT_FOLDERS = ("scripts", "script", "bin", "dev", "tools", "hack", "ci", "tests", "test", "")
SCRIPT = re.compile(r"(?P<stem>[a-z][\w-]*)(?P<ending>\.sh|\.bash|\.py|\.js|\.mjs|\.ts|\.rb)?")
# A script outside a folder for scripts must be named for its purpose, or any module would be one.
ROOT_SCRIPT = re.compile(
    r"(?:run)?[-_]?(?:tests?|lint|build|format|fmt|check)s?\.(?:sh|py)|runtests\.py|do|x\.py"
)
NO_SCRIPT = frozenset({"__init__", "conftest", "setup", "common", "utils", "util", "lib", "helpers"})
INTERPRETERS = {".sh": "sh", ".bash": "bash", ".rb": "ruby", ".js": "node", ".mjs": "node", ".ts": "npx tsx"}


def find_conventions(files: Files) -> Iterator[Found]:
    """The usual commands of each kind that the repository is."""
    for kind in read("conventions")["kind"]:
        paths = files.find_like(re.compile(kind["file"]))
        # The parts of one project have such files too: what is nearest the root is the whole.
        nearest = min((path.count("/") for path in paths), default=0)
        for path in paths:
            if path.count("/") == nearest or kind.get("anywhere"):
                yield from _of_kind(files, kind, path)


def _of_kind(files: Files, kind: Mapping[str, Any], path: str) -> Iterator[Found]:
    text, folder = files.read(path), folder_of(path)
    inside = f"{folder}/" if folder else ""
    if not re.search(kind.get("needs", ""), text) or not re.fullmatch(kind.get("path", ".*"), path):
        return
    below = [each.removeprefix(inside) for each in files.texts if each.startswith(inside)]
    front = python_front(files) if kind.get("front") == "python" else ""
    for rank, usual in enumerate(kind["commands"]):
        needed = re.search(usual.get("needs", ""), text)
        if not needed or not any(re.search(usual.get("with", ""), each) for each in below):
            continue
        words = {
            "folder": quote_word(folder or "."),
            "path": quote_word(path),
            "hook": needed.groupdict().get("hook"),
        }
        command = front + usual["command"].format_map(words)
        if "wrapper" in kind and files.has(inside + kind["wrapper"][0]):
            command = re.sub(rf"^{kind['wrapper'][1]}\b", kind["wrapper"][2], command)
        yield Found(
            command if kind.get("anywhere") else within(folder, command),
            path,
            line_of(text, usual["needs"]) if words["hook"] else 1,
            f"the usual command of {kind['what']}",
            "",
            "convention",
            as_purpose(usual["purpose"]),
            rank + 50 * kind.get("last", False),
        )


def find_scripts(files: Files) -> Iterator[Found]:
    """Scripts whose names are for a purpose: `scripts/test`, `bin/lint.sh`, `tests/runtests.py`."""
    for path in sorted(files.texts):
        folder, name = folder_of(path), path.rpartition("/")[2]
        found = SCRIPT.fullmatch(name)
        if folder not in SCRIPT_FOLDERS or not found or found["stem"] in NO_SCRIPT:
            continue
        if folder in ("", "tests", "test") and not ROOT_SCRIPT.fullmatch(name):
            continue
        text, ending = files.texts[path][:2_000], found["ending"] or ""
        purpose, fit = purpose_of(found["stem"], "")
        if purpose == "other" or fit > 1 or not (text.startswith("#!") or ending):
            continue
        files.read(path)
        if ending == ".py":
            command = f"python {quote_word(path)}"
        elif text.startswith("#!"):
            command = quote_word(path) if folder else f"./{quote_word(path)}"
        else:
            command = f"{INTERPRETERS[ending]} {quote_word(path)}"
        yield Found(command, path, 1, _gist(text), found["stem"], "task", purpose, fit)


def _gist(text: str) -> str:
    """The first commands of a script."""
    lines = [line.strip() for line in text.split("\n")[:60] if line.strip()]
    ran = [line for line in lines if not line.startswith(("#", "set ", '"""', "import ", "from ", "export "))]
    return "; ".join(ran[:4])

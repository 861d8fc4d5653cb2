"""What everybody runs in a project of some kind, shown by a file that makes it one."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from cli_guard.assistant.projects.files import Files, folder_of, line_of, quote_word, within
from cli_guard.assistant.projects.model import Found
from cli_guard.assistant.projects.purposes import as_purpose, read
from cli_guard.assistant.projects.sources.environments import python_front


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

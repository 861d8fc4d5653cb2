"""The tools that a model is offered: those that read, over the files with its own edits, and those that edit a copy.

The copy is in memory. What is to be written is proposed from it as a patch, which waits for a person like every patch.
"""

import posixpath
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from importlib.util import find_spec
from itertools import accumulate, islice
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import Field

from cli_guard.assistant.asking import answer_question
from cli_guard.assistant.editing.sources import name_near_paths
from cli_guard.assistant.local import LocalAssistant
from cli_guard.assistant.sandbox import CommandWorld, description
from cli_guard.assistant.sandbox.files import ROOT
from cli_guard.graph.tools.tool import Arguments, Tool, ToolOutput, World
from cli_guard.lazy import dataclass
from cli_guard.llm.prompts import sendable
from cli_guard.model import Action, Decision, Verdict
from cli_guard.policy.language_model import ModelSection
from cli_guard.repository.snapshot import Snapshot
from cli_guard.runtime import missing_extra
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact

# The run tool reads all that there is; without its interpreter the typed tools do.
RUN = "run"
TYPED = ("read_file", "search_repository", "find_tests")
READING = (RUN,) if find_spec("bashkit") else TYPED
EDITING = ("edit_file", "create_file", "delete_file")
# On file systems that fold case, or drop what follows (gitfaq(7), core.protectNTFS).
GIT_FOLDER = re.compile(r"(?i)(?:\.git|git~\d+)[ .]*(?::.*)?\Z")
FILE_CHARS = 200_000
NEAR_LINES = 3
WORD = re.compile(r"\w+")
# `write` tools need approval; these write to a copy in memory, and what they make is approved as a patch.
IN_MEMORY = Verdict(Decision.ALLOW, "changes only a copy in memory", "copy-only")
SEEN = "the text files of the repository with your edits (the history is without them)"
# Masking reads about 2.5 million characters a second.
MASKED_CHARS = 50_000_000


class MessageArguments(Arguments):
    """Commit what is staged, with this message. A person approves it first, and the hooks of the repository run."""

    message: str = Field(min_length=1, max_length=3_000)


class CommandText(Arguments):
    """Run a command with bash at the top of the work tree, without your edits. A person approves it first."""

    command: str = Field(min_length=1, max_length=4_000)


# Tools of the graph that a model is offered in a form of its own.
FORMS: dict[str, type[Arguments]] = {
    "git_commit": MessageArguments,
    "run_command": CommandText,
}


def with_plain_path(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a tool of files with its path from the top: `run` shows them below ROOT."""
    path = arguments.get("path")
    if name not in (*EDITING, "read_file") or not isinstance(path, str):
        return arguments
    return {**arguments, "path": path.removeprefix(f"{ROOT}/").removeprefix("./")}


def action_of(name: str, arguments: dict[str, Any], tools: Mapping[str, Tool]) -> Action:
    """Return the action of a model's call.

    A commit is the command that makes it: it passes the same gate, approval and hooks.
    """
    if name == "git_commit":
        name = "run_command"
        command = shlex.join(("git", "commit", "-m", arguments["message"]))
        arguments = {"command": command}
    return Action(name, arguments, risk=tools[name].risk, purpose="the model asks for it")


Path = Annotated[str, Field(min_length=1, max_length=1_000)]


class Edit(Arguments):
    """A replacement in a file: `old` stands there exactly once."""

    path: Path
    old: str = Field(min_length=1, max_length=FILE_CHARS)
    new: str = Field(max_length=FILE_CHARS)


class NewFile(Arguments):
    """A file that is not there yet, and its text."""

    path: Path
    text: str = Field(max_length=FILE_CHARS)


class OnePath(Arguments):
    """One file."""

    path: Path


@dataclass
class Copy:
    """The files that a model may see, with its edits: path -> text, None for a removed file."""

    config: ModelSection
    edits: dict[str, str | None] = field(default_factory=dict)
    # What each of them was made over.
    _bases: dict[str, str | None] = field(default_factory=dict)
    _source: Mapping[str, str] | None = None
    _sendable: dict[str, str] = field(default_factory=dict)
    _masked: dict[str, tuple[str, str]] = field(default_factory=dict)

    def over(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Return files as the model sees them: without private ones, and with its edits."""
        if self._source is not texts:
            # Names are matched with patterns, and each call of a tool asks for all files.
            self._source = texts
            self._sendable = sendable(texts, self.config)
        files = {**self._sendable, **self.edits}
        return {path: text for path, text in files.items() if text is not None}

    def mask_files(self, texts: Mapping[str, str]) -> tuple[dict[str, str], int]:
        """Return these files without their secrets, and the number of those beyond MASKED_CHARS, which are left out.

        `sed` would take away what a secret is known by, and a search would say that it is there.
        """
        shown: dict[str, str] = {}
        room = MASKED_CHARS
        files = self.over(texts)
        for path, text in files.items():
            room -= len(text)
            if room >= 0:
                if self._masked.get(path, (None, ""))[0] != text:
                    self._masked[path] = (text, redact(text, path))
                shown[path] = self._masked[path][1]
        return shown, len(files) - len(shown)

    def text(self, world: World, path: str) -> str | None:
        """Return one file, None if it is not there."""
        return self.edits[path] if path in self.edits else world.snapshot.get(path)

    def edit_file(self, world: World, arguments: Edit) -> ToolOutput:
        """Replace `old`, which must occur exactly once in the file, by `new`. The work tree stays as it is."""
        path = arguments.path
        old = arguments.old
        new = arguments.new
        text = self.text(world, path)
        if text is None:
            return self.refuse_missing(world, path)
        if redact(text, path) != text:
            # Whether `old` is there would tell a secret, and other words around one would unmask it.
            return refuse(
                f"{path} holds what is masked as a secret: a person has to edit it"
            )
        if "\r\n" in text and "\r" not in old:
            old, new = (
                each.replace("\r\n", "\n").replace("\n", "\r\n") for each in (old, new)
            )
        if text.count(old) != 1:
            return refuse_places(text, old)
        if old in new and new in text:
            return refuse("that changes nothing: `new` is there already")
        return self.keep(
            world, path, text.replace(old, new), text[: text.index(old)].count("\n")
        )

    def create_file(self, world: World, arguments: NewFile) -> ToolOutput:
        """Add a file. The work tree stays as it is; to see the file again, use `run`: cat PATH."""
        path = arguments.path
        known = (
            world.snapshot.entries
            if isinstance(world.snapshot, Snapshot)
            else world.snapshot
        )
        taken = {*known, *(each for each, text in self.edits.items() if text is not None)}
        above = [
            folder for folder in map(str, PurePosixPath(path).parents) if folder in taken
        ]
        if path in taken:
            return refuse(f"{path} is there already: use edit_file")
        if above or any(each.startswith(f"{path}/") for each in taken):
            return refuse(f"{above[0]} is no folder" if above else f"{path} is a folder")
        return self.keep(world, path, arguments.text, 0)

    def delete_file(self, world: World, arguments: OnePath) -> ToolOutput:
        """Remove a text file. The work tree stays as it is."""
        if self.text(world, arguments.path) is None:
            return self.refuse_missing(world, arguments.path)
        self.record(world, arguments.path, None)
        return ToolOutput({"path": arguments.path})

    def refuse_missing(self, world: World, path: str) -> ToolOutput:
        """Refuse a path without a file; name those that it may mean."""
        near = name_near_paths(path, self.over(world.snapshot))
        return refuse(f"there is no text file {path}{near}")

    def keep(self, world: World, path: str, text: str, line: int) -> ToolOutput:
        """Keep the new text of a file; return the lines around the edit."""
        problem = problem_with(path, text)
        if problem or text == self.text(world, path):
            return refuse(problem or "that changes nothing")
        self.record(world, path, text)
        lines = redact(text, path).split("\n")
        shown = lines[max(0, line - NEAR_LINES) : line + 4 * NEAR_LINES]
        return ToolOutput(
            {"path": path, "line": line + 1, "lines": len(lines), "text": "\n".join(shown)}
        )

    def record(self, world: World, path: str, text: str | None) -> None:
        if path not in self.edits:
            self._bases[path] = world.snapshot.get(path)
        self.edits[path] = text

    def drop_overtaken(self, snapshot: Mapping[str, str]) -> list[str]:
        """Drop the edits of files that somebody else has changed since, and return their paths."""
        lost = [path for path in self.edits if snapshot.get(path) != self._bases[path]]
        for path in lost:
            del self.edits[path]
        return lost

    def changes(self, snapshot: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """Return the changed files before and after the edits, each path -> text."""
        changed = {
            path: text for path, text in self.edits.items() if snapshot.get(path) != text
        }
        old = {path: snapshot[path] for path in changed if path in snapshot}
        return old, {path: text for path, text in changed.items() if text is not None}


def refuse(problem: str, **shown: str) -> ToolOutput:
    """Return why nothing was done; it is the model's own business, so that no `error` of the run."""
    return ToolOutput({"problem": problem, **shown}, failed=True)


def refuse_places(text: str, old: str) -> ToolOutput:
    """Refuse an edit whose `old` is not there exactly once; show where it is, or may be."""
    lines = text.split("\n")
    height = old.count("\n") + 1
    found = text.count(old)
    if found:
        problem = f"`old` occurs {found} times: add lines around it, so that it is unique"
        first = islice(re.finditer(re.escape(old), text), NEAR_LINES)
        places = [text.count("\n", 0, each.start()) for each in first]
    else:
        problem = "`old` does not occur: copy it exactly from the file"
        places = [find_nearest(lines, old, height)]
    shown = (
        "\n".join(lines[max(0, at - NEAR_LINES) : at + height + NEAR_LINES])
        for at in places
    )
    return refuse(problem, text="\n...\n".join(shown))


def find_nearest(lines: Sequence[str], old: str, height: int) -> int:
    """Return where so many lines begin that have most words of `old`, and fewest others."""
    wanted = set(WORD.findall(old))
    scores = []
    for line in lines:
        words = WORD.findall(line)
        scores.append(sum(1 if word in wanted else -1 for word in words))
    sums = [*accumulate(scores, initial=0)]
    last = max(0, len(lines) - height)
    return max(
        range(last + 1), key=lambda at: sums[min(at + height, len(lines))] - sums[at]
    )


def problem_with(path: str, text: str) -> str:
    """Return why a file cannot be written, "" if it can; the gate has compared its path with the allowed ones."""
    if (
        printable(path) != path
        or "\\" in path
        or posixpath.normpath(path) != path
        or path.startswith("/")
    ):
        return "that is no plain path from the top of the repository"
    if any(GIT_FOLDER.match(part) for part in path.split("/")):
        return "nothing is written below .git"
    return "the text holds a character that no text file holds" if "\0" in text else ""


def tools_for(copy: Copy, shell: CommandWorld | None) -> dict[str, Tool]:
    """Return the tools over a copy, by name: the assistant's, which see the edits, and those that edit.

    `shell` is the world of the run tool over the repository, None where the files are all there is.
    """
    made = {name: reading_tool(name, copy, shell) for name in (RUN, *TYPED)}
    for name in EDITING:
        run = getattr(copy, name)
        schema = run.__annotations__["arguments"]
        summary = run.__doc__
        made[name] = Tool(name, summary, "write", schema, run, decided=IN_MEMORY)
    return made


def reading_tool(name: str, copy: Copy, shell: CommandWorld | None) -> Tool:
    """Return a tool of the assistant that sees the edits, and nothing of private files, nor of their history."""
    tool = LocalAssistant().tools[name]
    summary = tool.summary
    if RUN not in READING:
        summary += f" ({missing_extra('The tool run, a sandboxed shell,', 'shell')})"
    if name == RUN:
        summary = description(SEEN)

    def run(world: World, arguments: Any) -> ToolOutput:
        if name == "read_file":
            texts = copy.over(world.snapshot)
            left_out = 0
            if arguments.path not in texts:
                return copy.refuse_missing(world, arguments.path)
        else:
            texts, left_out = copy.mask_files(world.snapshot)
        # A new assistant: one that has searched before remembers what it found.
        assistant = LocalAssistant()
        if name == RUN and shell and world.allowed is None:
            files = Snapshot.of(texts)
            seen = replace(
                shell, snapshot=files, mcp=None, hides=copy.config.private_patterns
            )
            assistant = LocalAssistant(
                replace(seen, ask=partial(answer_question, CommandWorld(files)))
            )
        done = assistant.tools[name].run(replace(world, snapshot=texts), arguments)
        more: dict[str, object] = {"files_left_out": left_out} if left_out else {}
        if done.data.get("not_kept"):
            more["note"] = "files are changed with edit_file and create_file"
        return replace(done, data={**done.data, **more})

    return replace(tool, run=run, summary=summary)

"""What starts by itself: its command goes to the judge, as one that runs without a question when a folder is opened.

`advice` are the project's own formatters, linters and tests, the guard, and scripts of the tree that are read in full
and found clean; `denied` what the judge denies; everything else that is new or changed asks.
"""

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from cli_guard.commands import EffectKind, Verdict, judge_or_raise
from cli_guard.lazy import frozen
from cli_guard.model import Decision
from cli_guard.reviewers.agent_paths import MAYBE
from cli_guard.reviewers.agents.change_tree import ROOT, ChangeTree, context_of
from cli_guard.reviewers.agents.scripts import (
    ABSENT,
    TOO_MANY,
    ScriptFacts,
    files_run_by,
    read_script,
)
from cli_guard.reviewers.agents.statements import SurfaceStatement
from cli_guard.reviewers.agents.tables import folders
from cli_guard.reviewers.agents.tasks import MARK, file_of, find_tasks, is_task, script_of
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import read_patterns, read_table

MOST_SCRIPTS = 20
MOST_WORDS = 400
LONGEST_COMMAND = 40_000
# Stands for a file of the tree that an agent edited.
EDITED = "file.txt"
GRAVE_KINDS = frozenset(
    (
        EffectKind.NETWORK_IN,
        EffectKind.NETWORK_OUT,
        EffectKind.CREDENTIAL,
        EffectKind.PRIVILEGE,
    )
)


@frozen
class Start:
    """The judgement of a start: `denied`, `asks` or `advice`, the reason, and the scripts that it reaches.

    `is_grave`: it reaches the network or secrets, or was not read, so that it asks also where a person starts it.
    `line` is where that stands, in a script that is the statement itself; else 0.
    """

    sort: str
    reason: str
    scripts: Mapping[str, ScriptFacts]
    is_grave: bool = True
    line: int = 0

    @property
    def content(self) -> str:
        """Return what names the scripts as they are."""
        return " ".join(each.digest for _, each in sorted(self.scripts.items()))


class StartJudge:
    """Judges what starts in the state after a change; a script is read once."""

    def __init__(self, subject: ReviewInput) -> None:
        self._tree = ChangeTree(subject)
        self._context = context_of(self._tree)
        self._facts: dict[str, ScriptFacts] = {}

    def judge(self, statement: SurfaceStatement) -> Start:
        """Judge the command of a statement."""
        if statement.entry.word("read") == "whole":
            return self._judge_whole(statement)
        command = fill_command(statement.value, statement.path)
        if len(command) > LONGEST_COMMAND:
            return Start("asks", "it is too long to be judged", {})
        verdict = judge_or_raise(command, self._context)
        words = [*words_of(command), *files_run_by(verdict, self._tree)]
        tasks = find_tasks(command, self._context, self._tree)
        scripts = self._follow(words, statement.path, list(tasks))
        start = weigh(verdict, scripts)
        missing = self._missing_program(verdict, statement.path, scripts)
        if start.sort == "advice" and missing:
            return Start("asks", f"{missing} is not in the tree", scripts, is_grave=False)
        return start

    def questions_before(self, name: str, text: str) -> frozenset[str]:
        """Return what a script asked about with the text that it had."""
        before = script_of(name, text) if is_task(name) else text
        return self._read_text(name, before).questions if before else frozenset()

    def _missing_program(
        self, verdict: Verdict, path: str, scripts: Mapping[str, ScriptFacts]
    ) -> str:
        """Return a program or script below the tree that would run and was not recorded, "" if there is none."""
        for effect in verdict.effects:
            inside = (effect.target or "").removeprefix(f"{ROOT}/")
            is_run = effect.kind is EffectKind.EXEC and inside != effect.target
            # What may be a task or a file was read as a task.
            is_read = any(name.endswith(f"{MARK}{inside}") for name in scripts)
            if is_run and not is_read and not self._is_there(inside, path):
                return inside
        return ""

    def _is_there(self, inside: str, path: str) -> bool:
        return (
            self._tree.exists(f"{ROOT}/{inside}") or self._find(inside, path)[1] is not None
        )

    def _judge_whole(self, statement: SurfaceStatement) -> Start:
        text = fill_script(without_functions(statement), statement.path)
        facts = read_script(statement.path, text, self._tree, self._context)
        scripts = self._follow([], statement.path, facts.loads)
        if facts.is_harmful:
            return Start("denied", facts.reason, scripts, line=facts.line)
        remote = variable_patterns()["direnv_remote"].search(statement.value)
        if statement.tool == "direnv" and remote:
            reason = f"it loads what another place holds: {remote[0].strip()}"
            return Start("asks", reason, scripts)
        beneath = weigh_scripts(scripts)
        if beneath and (facts.is_clean or beneath.sort == "denied"):
            return beneath
        if facts.is_clean:
            return Start("advice", "it only sets up an environment", scripts)
        is_grave = facts.is_grave or (beneath is not None and beneath.is_grave)
        return Start("asks", facts.reason, scripts, is_grave, facts.line)

    def _follow(
        self, words: Sequence[str], path: str, loads: Sequence[str] = ()
    ) -> dict[str, ScriptFacts]:
        """Return the scripts of the tree that words name, those in `loads`, and all that these name, run or import."""
        found: dict[str, ScriptFacts] = {}
        waiting = [(word, False) for word in words] + [(name, True) for name in loads]
        for word, is_needed in waiting:
            name, text = self._find(word, path)
            if name in found or (text is None and not self._is_missed(word, is_needed)):
                continue
            if len(found) >= MOST_SCRIPTS:
                found[name or word] = TOO_MANY
                break
            if text is None:
                found[word] = ABSENT
                continue
            found[name] = self._read(name, text)
            waiting += [(each, True) for each in found[name].loads]
            waiting += [(each, False) for each in named_scripts(text)]
        return found

    def _is_missed(self, name: str, is_needed: bool) -> bool:
        """Return whether a script loads a file that is not there, in none of the folders of installed programs."""
        return is_needed and not self._tree.exists(f"{ROOT}/{name}")

    def _find(self, word: str, path: str) -> tuple[str, str | None]:
        """Return the file of the tree that a word names, from the folder of the settings or from the top."""
        inside = word.removeprefix("./")
        if not inside or inside.startswith(("/", "~", "-")) or ".." in inside.split("/"):
            return "", None
        for folder in dict.fromkeys((scope_of(path), "")):
            name = f"{folder}/{inside}" if folder else inside
            text = self._tree.text(file_of(name))
            if text is not None and is_task(name):
                text = script_of(name, text)
            if text is not None:
                return name, text
        return "", None

    def _read(self, name: str, text: str) -> ScriptFacts:
        if name not in self._facts:
            # A script that starts itself is not read for ever.
            self._facts[name] = ScriptFacts()
            self._facts[name] = self._read_text(name, text)
        return self._facts[name]

    def _read_text(self, name: str, text: str) -> ScriptFacts:
        context = self._context
        if is_task(name):
            folder = posixpath.join(ROOT, posixpath.dirname(file_of(name)))
            context = replace(context, folder=folder.rstrip("/"))
        return read_script(name, fill_script(text, name), self._tree, context)


def weigh(verdict: Verdict, scripts: Mapping[str, ScriptFacts]) -> Start:
    """Weigh what the judge says of a command together with the scripts that it reaches."""
    if verdict.verdict is Decision.DENY:
        return Start("denied", verdict.reason, scripts)
    if start := weigh_scripts(scripts):
        return start
    edited = f"{ROOT}/{EDITED}"
    if any(
        each.kind is EffectKind.EXEC and each.target == edited for each in verdict.effects
    ):
        return Start("asks", "it runs whatever file was edited", scripts)
    left = [
        each
        for each in verdict.effects
        if each.decision is not Decision.ALLOW
        and not runs_one_of(each.reason, each.kind, scripts)
    ]
    if left:
        is_grave = not GRAVE_KINDS.isdisjoint(each.kind for each in left)
        return Start("asks", left[0].reason, scripts, is_grave)
    return Start("advice", verdict.reason.partition(" (trusted")[0], scripts)


def weigh_scripts(scripts: Mapping[str, ScriptFacts]) -> Start | None:
    """Return what the scripts make of a start, None if all of them are clean."""
    unclean = [(name, facts) for name, facts in scripts.items() if not facts.is_clean]
    for name, facts in unclean:
        if "denied" in facts.signs:
            return Start("denied", f"{name}: {facts.reason}", scripts)
    if unclean:
        name, facts = unclean[0]
        is_grave = any(each.is_grave for _, each in unclean)
        return Start("asks", f"{name}: {facts.reason}", scripts, is_grave)
    return None


def runs_one_of(reason: str, kind: EffectKind, scripts: Mapping[str, ScriptFacts]) -> bool:
    """Return whether an effect is that a script runs which was read and found clean."""
    return kind is EffectKind.EXEC and any(
        reason.endswith((f" {name}", f"/{name}")) for name in scripts
    )


def words_of(command: str) -> list[str]:
    """Return the words of a command that may be paths; a command that is no shell has none."""
    try:
        words = shlex.split(command, comments=False)
    except ValueError:
        words = command.split()
    parts = [
        part for word in words[:MOST_WORDS] for part in re.split(r"[;|&<>()=\s]+", word)
    ]
    return [part for part in parts if part][:MOST_WORDS]


def named_scripts(text: str) -> Iterator[str]:
    """Yield the words of a script that look like the path of another one."""
    for found in read_patterns("agents/programs.toml", "patterns")["script"].finditer(text):
        yield found[0]


@cache
def variable_patterns() -> Mapping[str, re.Pattern[str]]:
    table = read_table("agents/programs.toml")["variables"]
    return {
        name: re.compile(pattern.replace("{name}", table["name"]))
        for name, pattern in table.items()
    }


def fill_command(command: str, path: str) -> str:
    """Return a command of settings with what their tool fills in: the top of the tree, and an edited file."""
    patterns = variable_patterns()
    command = patterns["editor_root"].sub(".", command)
    command = patterns["editor_file"].sub(EDITED, command)
    return fill_variables(fill_edited(command), path)


def fill_script(text: str, path: str) -> str:
    """Return a script with the tools' variables filled in, its own path and the file that its hook is about."""
    patterns = variable_patterns()
    text = patterns["itself"].sub(lambda _: shlex.quote(path), fill_edited(text))
    return fill_variables(text, path)


def fill_edited(text: str) -> str:
    """Return a text with the file that its hook is about, where it reads that from its input."""
    patterns = variable_patterns()
    text = patterns["edited"].sub(EDITED, text)
    return patterns["edited_pipe"].sub(f"echo {EDITED}", text)


def fill_variables(text: str, path: str) -> str:
    patterns = variable_patterns()
    plugin = path.rpartition("/hooks/")[0] or scope_of(path)
    text = patterns["plugin"].sub(lambda _: f"./{plugin}" if plugin else ".", text)
    text = patterns["root"].sub(".", text)
    return patterns["file"].sub(EDITED, text)


def without_functions(statement: SurfaceStatement) -> str:
    """Return a script of direnv without the calls of its own functions that only set up an environment."""
    if statement.tool != "direnv":
        return statement.value
    return variable_patterns()["direnv"].sub(":", statement.value)


def scope_of(path: str) -> str:
    """Return the folder that settings are for: the one that holds the folder of the tool."""
    found = folders().search(path) or MAYBE.search(path)
    start = found.start() if found else 0
    return path[:start].strip("/")

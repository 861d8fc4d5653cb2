"""The deterministic test simulator: which tests a command would select, and what was recorded of them; nothing runs."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from cli_guard.assistant.projects.commands import commands_of
from cli_guard.assistant.projects.model import Failure, Outcome, Simulated
from cli_guard.assistant.projects.purposes import bare_command, read
from cli_guard.assistant.projects.selecting import language_run, selected_by
from cli_guard.secrets.redact import redact

LONGEST, MOST_PARTS, DEEPEST = 2_000, 50, 4
MOVED = re.compile(r"cd [\w./-]+$")
# An environment that is only a version of Python runs what tox runs by default.
PLAIN_TOX = re.compile(r"^tox (?:run |r )?-e py\d*$")
TARGETS = re.compile(r"runs the (?:targets|recipes) (.+)$")


def simulate(
    command: str, texts: Mapping[str, str], recorded: Mapping[str, object] | None = None
) -> Simulated:
    """What a test command would select, counted by syntax tree, with the outcomes that were recorded.

    `recorded` is a test file or a node id (`tests/test_a.py::test_b`) -> "passed", "failed" or "skipped", or a mapping
    with `outcome` and `message`. A node id counts before its file. What nobody recorded never counts as passed.
    """
    shown = redact(" ".join(command[:LONGEST].split()))
    tasks = {each.command: each.detail for each in commands_of(texts) if each.detail}
    real = _behind(" ".join(command[:LONGEST].split()), tasks)
    selected = selected_by(" && ".join(real), texts) if real else []
    passed = failed = skipped = unrecorded = 0
    failures = []
    for path, name in selected:
        node = f"{path}::{name}" if name else path
        outcome, message = _recorded(path, node, recorded or {})
        passed += outcome == "passed"
        skipped += outcome == "skipped"
        unrecorded += outcome == ""
        if outcome == "failed":
            failed += 1
            failures.append(Failure(node, redact(message)))
    status: Outcome = "failed" if failed else "passed" if passed and not unrecorded else "not recorded"
    counted = len(selected)
    text = _text(bool(real), counted, passed, failed, skipped, unrecorded, failures)
    return Simulated(shown, status, counted, passed, failed, skipped, unrecorded, tuple(failures), text)


def _behind(command: str, commands: Mapping[str, str], depth: int = 0) -> list[str]:
    """The commands of test runners that a command is, or that the tasks it names run; none if it runs none we know.

    `commands` is what each task of the repository runs.
    """
    found: list[str] = []
    folder = ""
    for part in re.split(r"\s*(?:&&|;|\|\|)\s*", command)[:MOST_PARTS]:
        if MOVED.match(part):
            folder = f"{part} && "
        elif language_run(bare_command(part)):
            found.append(folder + part)
        elif depth < DEEPEST and (
            body := commands.get(f"{folder}{part}") or commands.get(PLAIN_TOX.sub("tox", part))
        ):
            targets = TARGETS.match(body)
            names = targets[1].split() if targets else []
            program = part.rpartition(" ")[0] or part
            inner = " && ".join(f"{program} {name}" for name in names) or body
            found += _behind(inner, commands, depth + 1)
    return found


def _recorded(path: str, node: str, recorded: Mapping[str, object]) -> tuple[str, str]:
    """The outcome of a test, empty if nobody recorded one, and its message."""
    for key in (node, *_parameters(node, recorded), *_outer(node), path):
        if key not in recorded:
            continue
        value = recorded[key]
        message = ""
        if isinstance(value, Mapping):
            message = str(value.get("message", ""))
            value = value.get("outcome", value.get("status", ""))
        word, _, rest = str(value).partition(":")
        return _outcomes().get(word.strip().lower(), ""), message or rest.strip()
    return "", ""


@cache
def _outcomes() -> Mapping[str, str]:
    return {
        word: outcome for outcome, words in read("programs")["outcomes"].items() for word in words.split()
    }


def _outer(node: str) -> Sequence[str]:
    parts = node.split("::")
    return ["::".join(parts[:size]) for size in range(len(parts) - 1, 1, -1)]


def _parameters(node: str, recorded: Mapping[str, object]) -> list[str]:
    """The recorded runs of one test with parameters, those that failed in front."""
    found = sorted(key for key in recorded if key.startswith(f"{node}["))
    return sorted(found, key=lambda key: "fail" not in str(recorded[key]).lower())


def _text(
    known: bool,
    selected: int,
    passed: int,
    failed: int,
    skipped: int,
    unrecorded: int,
    failures: Sequence[Failure],
) -> str:
    """The closing lines as a runner writes them, marked as what they are."""
    if not known:
        return "simulated: this command runs no tests that we know how to select; nothing was run"
    lines = [f"FAILED {each.name}" + (f" - {each.message}" if each.message else "") for each in failures]
    counts = ((failed, "failed"), (passed, "passed"), (skipped, "skipped"), (unrecorded, "not recorded"))
    said = ", ".join(f"{count} {word}" for count, word in counts if count) or "no tests selected"
    lines.append(f"==== {said}, {selected} selected (simulated: nothing was run) ====")
    return "\n".join(lines)

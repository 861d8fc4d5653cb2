"""Simulate test commands of Python: the tests that one selects, and what was recorded of them; nothing runs."""

from collections import Counter
from collections.abc import Iterator, Mapping

from cli_guard.assistant.projects.model import Simulated, TestOutcome
from cli_guard.assistant.projects.purposes import purpose_of_text
from cli_guard.assistant.projects.running import Cases
from cli_guard.code.test_files import list_test_files
from cli_guard.secrets.redact import redact

LONGEST = 2_000
MOST_FILES = 5_000
OUTCOMES = ("failed", "passed", "skipped")


def simulate(
    command: str, texts: Mapping[str, str], recorded: Mapping[str, object] | None = None
) -> Simulated:
    """Count the tests that a command selects by their paths, with the outcomes that were recorded.

    `recorded` is a test file or a node id (`tests/test_a.py::test_b`) -> "passed", "failed" or "skipped", or a mapping
    with `outcome` and `message`. A node id counts before its file. What was not recorded never counts as passed.
    """
    plain = " ".join(command[:LONGEST].split())
    if purpose_of_text(plain) != "test":
        text = "simulated: this command runs no tests that we know how to select; nothing was run"
        return Simulated(redact(plain), "not recorded", text=text)
    counts: Counter[str] = Counter()
    lines = []
    for node in select_tests(plain, texts):
        outcome, message = find_outcome(node, recorded or {})
        counts[outcome or "not recorded"] += 1
        if outcome == "failed":
            lines.append(f"FAILED {node} - {redact(message)}".removesuffix(" - "))
    shown = [
        f"{counts[each]} {each}" for each in (*OUTCOMES, "not recorded") if counts[each]
    ]
    lines.append(
        f"==== {', '.join(shown) or 'no tests selected'}, {counts.total()} selected (simulated: nothing was run) ===="
    )
    return Simulated(redact(plain), status_of(counts), counts.total(), "\n".join(lines))


def status_of(counts: Mapping[str, int]) -> TestOutcome:
    """Return "passed" only where every selected test has an outcome and none failed."""
    if counts["failed"]:
        return "failed"
    return "passed" if counts["passed"] and not counts["not recorded"] else "not recorded"


def select_tests(command: str, texts: Mapping[str, str]) -> Iterator[str]:
    """Yield the tests of Python that a command selects, as node ids; all of them where it names no path."""
    words = (word.removeprefix("./").rstrip("/") for word in command.split()[1:])
    named = [
        word
        for word in words
        if ".py" in word or any(p.startswith(f"{word}/") for p in texts)
    ]
    cases = Cases(texts)
    for path in list_test_files(texts)[:MOST_FILES]:
        names = [case.name for case in cases.of(path)] if path.endswith(".py") else []
        # A file without known tests counts as one.
        bare = [path] if path.endswith(".py") and not names else []
        for node in (*bare, *(f"{path}::{name}" for name in names)):
            if not named or any(f"{node}/".startswith((f"{w}/", f"{w}::")) for w in named):
                yield node


def find_outcome(node: str, recorded: Mapping[str, object]) -> tuple[str, str]:
    """Return what was recorded of a test, "" for nothing, and its message: by node, by its classes, by its file."""
    parts = node.split("::")
    nodes = ["::".join(parts[:size]) for size in range(len(parts), 0, -1)]
    # One test with parameters is recorded several times; it failed if one of them did.
    several = [key for key in recorded if key.startswith(f"{node}[")]
    several.sort(key=lambda key: ("fail" not in str(recorded[key]).lower(), key))
    known = (key for key in (node, *several, *nodes[1:]) if key in recorded)
    value = recorded.get(next(known, ""), "")
    message = ""
    if isinstance(value, Mapping):
        message = str(value.get("message", ""))
        value = value.get("outcome", "")
    word, _, rest = str(value).partition(":")
    return word if word in OUTCOMES else "", message or rest.strip()

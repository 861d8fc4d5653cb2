"""Compare the outcome of a task with what its file expects. Pure: each check yields the failures that it finds."""

import hashlib
from collections.abc import Iterator, Mapping

from benchmarks.runner.answering import text_of
from benchmarks.runner.model import Blocked, Expected, Failure, FileState, Finding, Outcome
from cli_guard.policy.globs import rule_matches

ABSENT = "no such file"
SHOWN = 300


def check_answer(expected: Expected, outcome: Outcome) -> Iterator[Failure]:
    """Check an answer."""
    yield from check_fields(expected, outcome)
    yield from check_tools(expected, outcome)
    yield from check_blocked(expected, outcome)
    yield from check_findings(expected, outcome)
    for words in expected.reason:
        if words not in outcome.reason:
            yield Failure("reason", f"holds {words!r}", repr(outcome.reason))
    yield from check_says(expected.says, outcome.text)
    everything = text_of(outcome)
    for words in expected.never_says:
        if words in everything:
            where = "the answer" if words in outcome.text else "the data of the answer"
            yield Failure("never_says", f"never {words!r}", f"it is in {where}")


def check_fields(expected: Expected, outcome: Outcome) -> Iterator[Failure]:
    """Check the fields that are compared as they are."""
    for field in (
        "status",
        "task_type",
        "decision",
        "requires_human_review",
        "paths",
        "nodes",
    ):
        wanted = getattr(expected, field)
        got = getattr(outcome, field)
        if wanted is not None and wanted != got:
            reason = f": {outcome.reason or outcome.text}" if field == "status" else ""
            yield Failure(field, format_value(wanted), f"{format_value(got)}{reason}")


def format_value(value: object) -> str:
    """Format a value for people."""
    return ", ".join(map(str, value)) or "none" if isinstance(value, tuple) else str(value)


def check_tools(expected: Expected, outcome: Outcome) -> Iterator[Failure]:
    """Check the tools that ran, in order."""
    if expected.tools is not None and expected.tools != outcome.tools:
        yield Failure("tools", format_value(expected.tools), format_value(outcome.tools))
    for tool in expected.tools_include:
        if tool not in outcome.tools:
            yield Failure("tools_include", tool, format_value(outcome.tools))
    for tool in expected.tools_exclude:
        if tool in outcome.tools:
            yield Failure("tools_exclude", f"not {tool}", format_value(outcome.tools))


def fits(wanted: Blocked | Finding, got: Blocked | Finding) -> bool:
    """Return whether each field that the task names has the expected value."""
    pairs = (
        (getattr(wanted, name), getattr(got, name)) for name in wanted.__dataclass_fields__
    )
    return all(want is None or want == have for want, have in pairs)


def describe(each: Blocked | Finding) -> str:
    """Format an action or a finding: `write_file path=src/a.py`."""
    first, *rest = (getattr(each, name) for name in each.__dataclass_fields__)
    return " ".join(str(value) for value in (first, *rest) if value is not None)


def check_blocked(expected: Expected, outcome: Outcome) -> Iterator[Failure]:
    """Check that exactly the expected actions were stopped."""
    if expected.blocked is None:
        return
    left = list(outcome.blocked)
    for wanted in expected.blocked:
        found = next((each for each in left if fits(wanted, each)), None)
        if found is None:
            yield Failure(
                "blocked",
                describe(wanted),
                format_value(tuple(map(describe, outcome.blocked))),
            )
        else:
            left.remove(found)
    for each in left:
        yield Failure("blocked", "nothing else", describe(each))


def check_findings(expected: Expected, outcome: Outcome) -> Iterator[Failure]:
    """Check the findings that must be there, and those that must not."""
    left = list(outcome.findings)
    for wanted in expected.findings:
        found = next((each for each in left if fits(wanted, each)), None)
        if found is None:
            yield Failure(
                "findings",
                describe(wanted),
                format_value(tuple(map(describe, outcome.findings))),
            )
        else:
            left.remove(found)
    for each in left:
        if any(rule_matches(pattern, each.rule) for pattern in expected.no_findings):
            yield Failure(
                "no_findings",
                f"none of {format_value(expected.no_findings)}",
                describe(each),
            )


def check_says(wanted: tuple[str, ...], text: str) -> Iterator[Failure]:
    """Check that the answer contains these words."""
    for words in wanted:
        if words not in text:
            yield Failure("says", repr(words), repr(text))


def check_files(
    expected: Mapping[str, FileState], before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[Failure]:
    """Check the files of a task in memory (path -> text): the named ones, and that all others are unchanged."""
    for path in sorted({*before, *after, *expected}):
        if path not in expected:
            if before.get(path) != after.get(path):
                yield Failure(
                    f"files.{path}", "unchanged", "changed" if path in after else "removed"
                )
            continue
        text = after.get(path)
        yield from check_file(
            path, expected[path], None if text is None else text.encode("utf-8", "replace")
        )


def check_file(path: str, wanted: FileState, got: bytes | None) -> Iterator[Failure]:
    """Check one file of the end state; `got` is None if it does not exist."""
    what = f"files.{path}"
    if got is None or wanted.absent:
        if wanted.absent != (got is None):
            yield Failure(
                what,
                ABSENT if wanted.absent else "a file",
                ABSENT if got is None else "a file",
            )
        return
    text = got.decode("utf-8", "replace")
    if wanted.text is not None and wanted.text != text:
        yield Failure(what, repr(wanted.text), repr(text))
    if wanted.sha256 and wanted.sha256 != (digest := hashlib.sha256(got).hexdigest()):
        yield Failure(what, f"sha256 {wanted.sha256}", digest)
    for words in wanted.holds:
        if words not in text:
            yield Failure(what, f"holds {words!r}", repr(text))
    for words in wanted.lacks:
        if words in text:
            yield Failure(what, f"lacks {words!r}", repr(text))

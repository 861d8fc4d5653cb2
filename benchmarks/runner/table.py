"""Format results as a table for people, JSON for programs, Markdown for a page; without times, the same in each run."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from benchmarks.runner.model import Failure, Result, Task

Rows = Sequence[tuple[Task, Result]]
HEAD = ("id", "type", "difficulty", "status", "result")
SCHEMA_VERSION = 1


def count_results(rows: Rows) -> str:
    """Format `36 tasks: 35 passed, 1 failed`."""
    counts = Counter(result.result for _, result in rows)
    words = ", ".join(
        f"{counts[kind]} {kind}"
        for kind in ("passed", "failed", "timeout", "crashed", "skipped")
        if counts[kind]
    )
    return f"{len(rows)} {'task' if len(rows) == 1 else 'tasks'}: {words}"


def count_by_type(rows: Rows) -> list[tuple[str, str]]:
    """Count `passed/all` of each type of task, in the order of their names."""
    types = sorted({result.type for _, result in rows})
    of_type = {
        each: [result.result for _, result in rows if result.type == each] for each in types
    }
    return [
        (each, f"{found.count('passed')}/{len(found)}") for each, found in of_type.items()
    ]


def cells(task: Task, result: Result) -> tuple[str, ...]:
    """Return one row of the table."""
    return (task.id, result.type, task.difficulty, result.status or "-", result.result)


def failure_line(failure: Failure) -> str:
    """Format what was expected, and what came instead."""
    return f"{failure.what}: expected {failure.expected}; came {failure.got}"


def text(rows: Rows) -> str:
    """Format the table in columns, with a line under a task for each failure."""
    table = [HEAD, *(cells(task, result) for task, result in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(HEAD))]

    def lines() -> Iterator[str]:
        for row, result in zip(table, (None, *(result for _, result in rows)), strict=True):
            yield "  ".join(
                cell.ljust(width) for cell, width in zip(row, widths, strict=True)
            ).rstrip()
            yield from (
                f"    {failure_line(each)}" for each in (result.failures if result else ())
            )

    kinds = count_by_type(rows)
    width = max((len(each) for each, _ in kinds), default=0)
    return "\n".join(
        (
            *lines(),
            "",
            *(f"{each.ljust(width)}  {count}" for each, count in kinds),
            count_results(rows),
        )
    )


def markdown(rows: Rows) -> str:
    """Format the table in GitHub's Markdown, the failures below it."""

    def row(texts: Sequence[str]) -> str:
        return f"| {' | '.join(texts)} |"

    lines = [
        row(HEAD),
        row(["---"] * len(HEAD)),
        *(row(cells(task, result)) for task, result in rows),
        "",
    ]
    wrong = [
        f"- `{result.id}`: {escape(failure_line(each))}"
        for _, result in rows
        for each in result.failures
    ]
    kinds = [
        row(("type", "passed")),
        row(("---", "---")),
        *(row(each) for each in count_by_type(rows)),
        "",
    ]
    return "\n".join(
        (*lines, *wrong, *([""] if wrong else []), *kinds, count_results(rows))
    )


def escape(text: str) -> str:
    """Escape what Markdown would interpret."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in text)


def as_json(rows: Rows) -> str:
    """Format one JSON object in ASCII."""
    tasks = [
        {
            "id": task.id,
            "kind": task.kind,
            "world": task.world,
            "type": result.type,
            "difficulty": task.difficulty,
            "tags": task.tags,
            "status": result.status,
            "result": result.result,
            "failures": [
                {"what": each.what, "expected": each.expected, "got": each.got}
                for each in result.failures
            ],
        }
        for task, result in rows
    ]
    counts = Counter(result.result for _, result in rows)
    data = {
        "schema_version": SCHEMA_VERSION,
        "tasks": tasks,
        "counts": dict(sorted(counts.items())),
    }
    return json.dumps(data, indent=2)


FORMATS: dict[str, Callable[[Rows], str]] = {
    "text": text,
    "json": as_json,
    "markdown": markdown,
}

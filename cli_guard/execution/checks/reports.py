"""Findings from the report of a check: what a tool says about lines that the change adds.

SARIF is what most tools can write (OASIS SARIF 2.1.0, 3.27); `gcc` are lines `path:line:column: level: message`, one a
finding. A report comes from a program of the repository, so everything in it is bounded and made safe to show.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from cli_guard.execution.errors import plain
from cli_guard.model import FileChange, Finding, Kind, Status
from cli_guard.policy.checks import CheckConfig, PlannedCheck
from cli_guard.policy.globs import matches
from cli_guard.rules.catalog import one
from cli_guard.runtime import read_plain
from cli_guard.secrets.printable import clip, printable
from cli_guard.secrets.redact import redact

MOST_BYTES = 20_000_000
MOST_FINDINGS = 200
MESSAGE_CHARS = 300
EVIDENCE_CHARS = 120
GCC = re.compile(
    r"(?m)^([^:\n]{1,1000}):(\d{1,9}):(?:\d{1,9}:)?[ \t]*(?:\w{1,20}:)?[ \t]*([^\n]{1,2000})$"
)
# Path, first and last line, and what the tool says there.
Spot = tuple[str, int, int, str]


def changed_files(config: CheckConfig, changes: Iterable[FileChange]) -> list[str]:
    """Return the texts after the change that a check covers, relative to its folder, none of them like an option."""
    folder = f"{config.working_dir}/" if config.working_dir else ""
    paths = (
        each.path
        for each in changes
        if each.status is not Status.DELETED and each.kind is Kind.TEXT
    )
    wanted = (
        path
        for path in paths
        if not config.files or any(matches(pattern, path) for pattern in config.files)
    )
    return [f"./{path.removeprefix(folder)}" for path in wanted if path.startswith(folder)]


def read_report(kind: str, file: Path) -> list[Spot]:
    """Return what a report says. Raises OSError if there is none, ValueError if it is not of this kind."""
    if file.lstat().st_size > MOST_BYTES:
        raise ValueError(f"longer than {MOST_BYTES:,} bytes")
    text = read_plain(file).decode("utf-8", "replace")
    try:
        return (
            list(_sarif(text))
            if kind == "sarif"
            else [
                (path, int(line), int(line), told)
                for path, line, told in GCC.findall(plain(text))
            ]
        )
    except (KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise ValueError(f"unexpected form: {error}") from error


def _sarif(text: str) -> Iterator[Spot]:
    """Yield the results of one document or of several, one after the other, as xargs leaves them."""
    decoder = json.JSONDecoder()
    rest = text.strip()
    while True:
        log, end = decoder.raw_decode(rest)
        for result in (each for run in log["runs"] for each in run.get("results") or ()):
            if result.get("suppressions") or not result.get("locations"):
                continue
            where: dict[str, Any] = result["locations"][0]["physicalLocation"]
            region = where.get("region") or {}
            first = int(region.get("startLine", 1))
            told = f"{result.get('ruleId') or ''}: {result['message'].get('text') or ''}"
            yield (
                unquote(where["artifactLocation"]["uri"]),
                first,
                int(region.get("endLine", first)),
                told,
            )
        rest = rest[end:].lstrip()
        if not rest:
            return


def findings_in(
    check: PlannedCheck,
    spots: Iterable[Spot],
    folder: Path,
    top: Path,
    changes: Iterable[FileChange],
) -> tuple[Finding, ...]:
    """Return a finding for each spot on a line that the change adds, at most MOST_FINDINGS."""
    known = {change.path: change for change in changes}
    rule = one("checks", "push-check-report")
    found = dict[str, Finding]()
    for uri, first, last, told in spots:
        place = folder / re.sub(r"^file://(?:localhost)?", "", uri)
        try:
            path = place.resolve().relative_to(top.resolve()).as_posix()
        except (ValueError, OSError, RuntimeError):
            continue  # outside of the checkout, or no path at all
        change = known.get(path)
        if change is None or not change.touches(first, max(first, last)):
            continue
        line = next(
            number for number in change.added if first <= number <= max(first, last)
        )
        message = clip(printable(redact(f"{check.name}: {told.strip()}")), MESSAGE_CHARS)
        reported = rule.finding(
            path=path,
            line=line,
            message=message,
            evidence=clip(printable(redact(change.added[line].strip())), EVIDENCE_CHARS),
            content=f"{message} {change.added[line]}",
        )
        found[reported.fingerprint] = reported
    return tuple(found.values())[:MOST_FINDINGS]

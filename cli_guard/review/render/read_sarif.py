"""Read back a SARIF log that `sarif.render` has written: a part of a review, to be joined with the others."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from cli_guard.model import Decision, Disposition, Finding, JudgedFinding, Skipped, Suppressed, finding_of
from cli_guard.review.render.review import Review
from cli_guard.review.render.sarif import UNREAD

Object = Mapping[str, Any]


def read_runs(text: str) -> list[Review]:
    """Return the review of each run. Raises ValueError, KeyError, TypeError or IndexError for any other text."""
    return [_review(run) for run in json.loads(text)["runs"]]


def _review(run: Object) -> Review:
    about = run["properties"]
    results = [(each, _finding(each)) for each in run["results"]]
    places = {
        found.commit: _path(each["locations"][0]["physicalLocation"])
        for each, found in results
        if not found.path
    }
    notices = run["invocations"][0]["toolExecutionNotifications"]
    return Review(
        status=about["status"],
        decision=Decision(about["decision"]),
        findings=tuple(
            JudgedFinding(found, Disposition(each["properties"]["decision"]))
            for each, found in results
            if "suppressions" not in each
        ),
        suppressed=tuple(
            Suppressed(
                found, given["properties"]["by"], given.get("justification", ""), given["properties"]["new"]
            )
            for each, found in results
            for given in each.get("suppressions", ())
        ),
        skipped=tuple(_skipped(each) for each in notices if each["message"]["text"].startswith(UNREAD)),
        notes=tuple(
            each["message"]["text"] for each in notices if not each["message"]["text"].startswith(UNREAD)
        ),
        places=places,
        **about["part"],
    )


def _finding(result: Object) -> Finding:
    about, place = result["properties"], result["locations"][0]
    physical = place["physicalLocation"]
    region = physical.get("region", {}) if "logicalLocations" not in place else {}
    message, _, remedy = result["message"]["text"].replace("\\[", "[").partition("\n")
    marks = result.get("partialFingerprints", {})
    return finding_of(
        {
            "rule": result["ruleId"],
            **{key: about[key] for key in ("category", "severity", "confidence")},
            **{key: about.get(key) for key in ("commit", "suggestion")},
            "path": "" if "logicalLocations" in place else _path(physical),
            "line": region.get("startLine"),
            "end_line": region.get("endLine"),
            "message": message,
            "remedy": remedy,
            "evidence": region.get("snippet", {}).get("text", about.get("evidence", "")),
            "fingerprint": marks.get("cliGuardFinding/v1", ""),
            "mark": marks.get("cliGuardSecret/v1", ""),
        }
    )


def _skipped(notice: Object) -> Skipped:
    places = notice.get("locations", ())
    path = _path(places[0]["physicalLocation"]) if places else ""
    return Skipped(path, notice["message"]["text"].removeprefix(UNREAD), notice["level"] == "warning")


def _path(physical: Object) -> str:
    return unquote_to_bytes(physical["artifactLocation"]["uri"]).decode("utf-8", "surrogateescape")

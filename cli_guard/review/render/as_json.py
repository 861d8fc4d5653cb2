"""The report for programs: one JSON object, every key always present, pure ASCII."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from cli_guard.model import (
    Decision,
    Disposition,
    Finding,
    JudgedFinding,
    Skipped,
    Suppressed,
    finding_of,
)
from cli_guard.review.render.review import Review
from cli_guard.review.render.words import where
from cli_guard.secrets.printable import json_value
from cli_guard.state.files import check_fields

SCHEMA_VERSION = 1
STEPS = ("blocked_actions", "plan", "tool_results", "action_log")
ANSWER = ("by", "reason", "new")
# Of few findings.
RARE = ("mark", "published", "replaces")
KEYS = "rule category severity confidence path line end_line message remedy suggestion evidence fingerprint commit"


def render(review: Review, *, indent: int | None = 2) -> str:
    """Render JSON with a final newline, indented or on one line, which takes a fifth of the time."""
    return (
        json.dumps(
            json_value(as_dict(review)), indent=indent, ensure_ascii=True, allow_nan=False
        )
        + "\n"
    )


def as_dict(review: Review) -> dict[str, object]:
    """Return the review with the keys of schema version 1."""
    places = list(review.places.items())
    part = (
        {"part": review.part, "binding": review.binding, "places": places}
        if review.binding
        else {}
    )
    return part | {
        "schema_version": SCHEMA_VERSION,
        "event": review.event,
        "status": review.status,
        "decision": review.decision,
        "review_id": review.review_id,
        "review_reason": review.review_reason,
        "findings": [
            _finding(each.finding) | {"decision": each.disposition}
            for each in review.sort_findings()
        ],
        "suppressed": [
            _finding(each.finding) | {name: getattr(each, name) for name in ANSWER}
            for each in review.suppressed
        ],
        **{key: getattr(review, key) for key in STEPS},
        "coverage": {
            "files": review.files,
            "reviewed": review.reviewed,
            "skipped": [asdict(each) for each in review.skipped],
        },
        "timings_ms": review.timings_ms,
        "notes": review.remarks,
        # Only in the report that is kept.
        **({"left": review.left, **kept_of(review)} if review.left else {}),
        **({"blobs": dict(review.blobs)} if review.blobs else {}),
    }


def kept_of(review: Review) -> dict[str, object]:
    """Return what else a later hook prints of an allowed change."""
    return {
        "secrets_only": review.secrets_only,
        "examples": review.examples,
        "places": list(review.places.items()),
    }


def _finding(found: Finding) -> dict[str, object]:
    more = {name: value for name in RARE if (value := getattr(found, name))}
    return {
        **{key: getattr(found, key) for key in KEYS.split()},
        "where": where(found),
        **more,
    }


def read_report(text: str) -> tuple[dict[str, Any], Review]:
    """Return a stored report as data, and the review in it. Raises ValueError, KeyError or TypeError for any other."""
    data = json.loads(text)

    def finding(each: Mapping[str, Any], *more: str) -> Any:
        data = {key: value for key, value in each.items() if key not in ("where", *more)}
        return check_fields(finding_of(data))

    covered = data["coverage"]
    steps: dict[str, Any] = {key: tuple(data[key]) for key in STEPS}
    review = Review(
        decision=Decision(data["decision"]),
        findings=tuple(
            JudgedFinding(finding(each, "decision"), Disposition(each["decision"]))
            for each in data["findings"]
        ),
        suppressed=tuple(
            check_fields(Suppressed(finding(each, *ANSWER), *(each[key] for key in ANSWER)))
            for each in data["suppressed"]
        ),
        skipped=tuple(check_fields(Skipped(**each)) for each in covered["skipped"]),
        notes=tuple(map(str, data["notes"])),
        timings_ms={name: float(time) for name, time in dict(data["timings_ms"]).items()},
        left=data.get("left", ""),
        part=data.get("part", ""),
        binding=data.get("binding", ""),
        blobs={path: str(blob) for path, blob in dict(data.pop("blobs", {})).items()},
        places={commit: str(path) for commit, path in data.get("places", ())},
        secrets_only=tuple(map(str, data.get("secrets_only", ()))),
        examples=data.get("examples", 0),
        **steps,
        **{key: covered[key] for key in ("files", "reviewed")},
        **{key: data[key] for key in ("event", "status", "review_id", "review_reason")},
    )
    return data, check_fields(review)

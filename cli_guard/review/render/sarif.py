"""The report as SARIF 2.1.0, which code scanning and editors read.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html; the subset that GitHub reads:
https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
"""

import json
import re
from collections.abc import Mapping
from urllib.parse import quote

from cli_guard import __version__
from cli_guard.model import (
    Category,
    Confidence,
    Disposition,
    Finding,
    Severity,
    Skipped,
    Suppressed,
)
from cli_guard.review.render.as_json import as_dict
from cli_guard.review.render.review import Review
from cli_guard.review.render.words import where
from cli_guard.rules.catalog import Rule, load_all
from cli_guard.secrets.printable import clip, json_value, printable

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {
    Disposition.DENY: "error",
    Disposition.REVIEW: "warning",
    Disposition.ADVISE: "note",
}
RULE_LEVELS = {Severity.CRITICAL: "error", Severity.HIGH: "warning"}
PRECISION = {Confidence.HIGH: "high", Confidence.MEDIUM: "medium", Confidence.LOW: "low"}
# The middle of each band of CVSS 3.1, which GitHub maps to its own severities.
SECURITY_SEVERITY = {
    Severity.CRITICAL: "9.5",
    Severity.HIGH: "8.0",
    Severity.MEDIUM: "5.5",
    Severity.LOW: "2.0",
}
NO_FILE = "cli-guard.toml"
_LINK = re.compile(r"\[(?=[^\[\]]*\]\()")

Object = dict[str, object]


def render(
    review: Review, *, rules: Mapping[str, Rule] | None = None, indent: int | None = 2
) -> str:
    """Render a SARIF log with a final newline. `rules` defaults to the catalog."""
    log = as_log(review, load_all() if rules is None else rules)
    return json.dumps(log, indent=indent) + "\n"


def as_log(review: Review, rules: Mapping[str, Rule]) -> Object:
    """Build the SARIF log as plain data: one run."""
    found = [judged.finding for judged in review.sort_findings()] + [
        each.finding for each in review.suppressed
    ]
    ids = sorted({finding.rule for finding in found})
    index = {rule: number for number, rule in enumerate(ids)}
    first = {finding.rule: finding for finding in reversed(found)}
    places = review.places
    results = [
        _result(
            judged.finding,
            LEVELS[judged.disposition],
            index,
            places,
            decision=judged.disposition,
        )
        for judged in review.sort_findings()
    ]
    results += [
        {
            **_result(each.finding, "note", index, places),
            "suppressions": [_suppression(each)],
        }
        for each in review.suppressed
    ]
    driver = {
        "name": "cli-guard",
        "semanticVersion": __version__,
        "rules": [_descriptor(rule, rules.get(rule), first[rule]) for rule in ids],
    }
    # Runs with the same id replace each other when uploaded; the parts of one review must not.
    part = f"{review.part}/" if review.part else ""
    # Of a part everything is kept, for the report that joins the parts.
    whole = {"report": json_value(as_dict(review))} if review.binding else {}
    run: Object = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "automationDetails": {
            "id": "/".join(("cli-guard", quote(printable(review.event), safe=""), part))
        },
        "originalUriBaseIds": {
            "%SRCROOT%": {"description": {"text": "The root of the repository."}}
        },
        "invocations": [_invocation(review)],
        "results": results,
        "properties": {"decision": review.decision, "status": printable(review.status)}
        | whole,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _descriptor(rule_id: str, rule: Rule | None, example: Finding) -> Object:
    about = rule or example
    title = rule.title if rule else example.message
    why = rule.why if rule else example.message
    severity = about.severity
    is_risk = about.category is Category.RISK
    properties: Object = {
        "tags": ["security", about.category] if is_risk else [about.category],
        "precision": PRECISION[about.confidence],
        "problem.severity": RULE_LEVELS.get(severity, "recommendation"),
    }
    if is_risk and severity in SECURITY_SEVERITY:
        properties["security-severity"] = SECURITY_SEVERITY[severity]
    return {
        "id": printable(rule_id),
        "shortDescription": {"text": _text(title)},
        "fullDescription": {"text": _text(why)},
        "help": {"text": _text("\n\n".join(part for part in (why, about.remedy) if part))},
        "defaultConfiguration": {"level": RULE_LEVELS.get(severity, "note")},
        "properties": properties,
    }


def _result(
    found: Finding,
    level: str,
    index: Mapping[str, int],
    places: Mapping[str | None, str],
    decision: str | None = None,
) -> Object:
    said = (found.message, found.remedy)
    properties: Object = {
        "category": found.category,
        "severity": found.severity,
        "confidence": found.confidence,
    }
    optional = {
        "decision": decision,
        "commit": found.commit,
        "suggestion": found.suggestion,
    }
    properties.update({key: _text(value) for key, value in optional.items() if value})
    result: Object = {
        "ruleId": printable(found.rule),
        "ruleIndex": index[found.rule],
        "level": level,
        # `[text](target)` is a link there (section 3.11.6); content must not make one.
        "message": {"text": _LINK.sub(r"\\[", _text("\n".join(filter(None, said))))},
        "locations": [_location(found, places)],
        "properties": properties,
    }
    if found.fingerprint:
        result["partialFingerprints"] = {"cliGuardFinding/v1": printable(found.fingerprint)}
    return result


def _location(found: Finding, places: Mapping[str | None, str]) -> Object:
    if not found.path:
        # GitHub refuses a whole file with a result that has no physical location: the first file of the commit.
        path = places.get(found.commit) or places.get(None) or NO_FILE
        return {
            "physicalLocation": {
                "artifactLocation": _artifact(path),
                "region": {"startLine": 1},
            },
            "logicalLocations": [{"name": where(found)}],
        }
    physical: Object = {"artifactLocation": _artifact(found.path)}
    if found.line is not None:
        region: Object = {"startLine": max(1, found.line)}
        if found.end_line is not None:
            region["endLine"] = max(1, found.line, found.end_line)
        if found.evidence:
            region["snippet"] = {"text": _text(found.evidence)}
        physical["region"] = region
    return {"physicalLocation": physical}


def _artifact(path: str) -> Object:
    return {"uri": uri(path), "uriBaseId": "%SRCROOT%"}


def uri(path: str) -> str:
    """Return a path of the repository as a relative URI reference: its bytes, percent-encoded (RFC 3986)."""
    try:
        data = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = path.encode("utf-8", "surrogatepass")
    return quote(data, safe="/")


def _suppression(each: Suppressed) -> Object:
    suppression: Object = {
        "kind": "inSource" if each.by == "inline" else "external",
        "status": "accepted",
        "properties": {"by": printable(each.by), "new": each.new},
    }
    if each.reason:
        suppression["justification"] = _text(each.reason)
    return suppression


def _invocation(review: Review) -> Object:
    failed = review.status == "failed" and not review.sort_findings(Disposition.DENY)
    return {
        "executionSuccessful": not failed,
        "exitCode": int(review.exit_code),
        "toolExecutionNotifications": [
            *(_notification(each) for each in review.skipped),
            *(
                {"level": "note", "message": {"text": _text(note)}}
                for note in review.remarks
            ),
        ],
    }


def _notification(each: Skipped) -> Object:
    level = "warning" if each.asks else "note"
    notification: Object = {
        "level": level,
        "message": {"text": f"not reviewed: {_text(each.reason)}"},
    }
    if each.path:
        notification["locations"] = [
            {"physicalLocation": {"artifactLocation": _artifact(each.path)}}
        ]
    return notification


def _text(text: str) -> str:
    return clip(printable(text, keep_newlines=True), 10_000) or "-"

"""Findings of the reviewer of agents: one place, one rule, the words that say what happens now."""

import json

from cli_guard.model import FileChange, Finding, Severity, fingerprint
from cli_guard.reviewers.agents.statements import SurfaceStatement
from cli_guard.rules import catalog

GROUP = "agents"
EVIDENCE_CHARS = 160


def word_finding(
    rule_id: str,
    change: FileChange,
    statement: SurfaceStatement,
    message: str,
    *,
    is_gone: bool = False,
) -> Finding:
    """Return the finding about a statement; one that is gone stands where the change took it away."""
    value = " ".join(statement.value.split())
    shown = value if statement.kind != "server" else statement.name
    return at_line(
        rule_id,
        change,
        gone_line(change) if is_gone else near(change, statement.line),
        f"{statement.tool}: {message}",
        evidence=f"{statement.name}: {shown}"[:EVIDENCE_CHARS],
        identity="\0".join(statement.identity),
        known=f'kind = "{statement.kind}", name = "{name_in_toml(statement.name)}", digest = "{statement.digest}"',
    )


def is_critical(rule_id: str) -> bool:
    """Return whether a rule stops a change whatever a policy knows."""
    return catalog.one(GROUP, f"agent-{rule_id}").severity is Severity.CRITICAL


def name_in_toml(name: str) -> str:
    """Return a name as the text of a TOML string."""
    return json.dumps(name)[1:-1]


def at_line(
    rule_id: str,
    change: FileChange,
    line: int,
    message: str,
    *,
    evidence: str = "",
    identity: str = "",
    known: str = "",
    severity: Severity | None = None,
) -> Finding:
    rule = catalog.one(GROUP, f"agent-{rule_id}")
    remedy = rule.remedy
    if known and rule.severity is Severity.HIGH:
        entry = f'known = [{{{known}, reason = "..."}}]'
        remedy = f"{remedy} For the whole team, under [surface] of cli-guard.toml: {entry}"
    return rule.finding(
        path=change.path,
        line=line,
        message=message,
        severity=severity,
        remedy=remedy,
        evidence=evidence,
        fingerprint=fingerprint(rule.id, change.path, identity or message),
    )


def near(change: FileChange, line: int) -> int:
    """Return the line of a statement, or the next added one if its own did not change."""
    if not change.added or line in change.added:
        return line
    return min(change.added, key=lambda each: (abs(each - line), each))


def gone_line(change: FileChange) -> int:
    """Return the line after the change where its first removed lines stood."""
    hunks = [hunk for hunk in change.hunks if hunk.removed]
    return max(hunks[0].new_start, 1) if hunks else 1

"""The gate: the only place that decides.

It decides whether a tool may run, and whether Git may record a change with these findings. Both are pure functions of
their arguments and return a `Verdict`.
"""

import datetime
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from cli_guard.lazy import frozen
from cli_guard.model import (
    SCALE,
    Action,
    Decision,
    Disposition,
    Finding,
    JudgedFinding,
    Severity,
    Suppressed,
    Verdict,
)
from cli_guard.policy.decisions import Policy
from cli_guard.policy.suppressions import (
    SUPPRESSION_ADDED,
    SUPPRESSION_NEW,
    UNANSWERABLE,
    Suppression,
)
from cli_guard.rules.catalog import one

if TYPE_CHECKING:
    from cli_guard.commands import Context as CommandContext

READ_ONLY = "read_only"
RECORDING = "git"
EXECUTE = "execute"
RUN_CHECKS = "run_checks"
CHECKS_TRUSTED = "checks-trusted"
STOPS = (Disposition.DENY, Disposition.REVIEW)
FindAnswer = Callable[[Finding], tuple[Suppression, bool] | None]
COMMAND_KEYS = frozenset(("command", "commands", "cmd"))


class ToolFacts(Protocol):
    """What the gate needs to know about a tool."""

    @property
    def risk(self) -> str:
        """Return the risk class: `read_only`, or what makes it not so."""

    @property
    def shows_command(self) -> bool:
        """Return whether a command in the arguments is only shown to a person, and never run."""

    @property
    def decided(self) -> Verdict | None:
        """Return the configuration's verdict on the tool itself, None if it has none."""

    def problem_with(self, arguments: Mapping[str, object]) -> str | None:
        """Return what is wrong with these arguments, None if nothing is."""


@frozen
class GateJudgement:
    """The findings of a change as policy sees them."""

    standing: tuple[JudgedFinding, ...]
    suppressed: tuple[Suppressed, ...]

    def of(self, disposition: Disposition) -> tuple[Finding, ...]:
        return tuple(
            judged.finding for judged in self.standing if judged.disposition is disposition
        )


def judge_tool(
    action: Action,
    tools: Mapping[str, ToolFacts],
    allowed_paths: Collection[str],
    *,
    review_only: bool,
    commands: "CommandContext | None" = None,
) -> Verdict:
    """Decide whether a planned tool may run; `judge_record` decides about recording actions.

    A command in the arguments is judged as it would run in the context `commands`.
    """
    tool = tools.get(action.tool)
    if tool is None:
        return Verdict(Decision.DENY, f"there is no tool {action.tool}", "tool-unavailable")
    problem = tool.problem_with(action.arguments)
    if problem:
        return Verdict(Decision.DENY, problem, "tool-malformed")
    outside = [path for path in paths_in(action.arguments) if path not in allowed_paths]
    if outside:
        return Verdict(
            Decision.DENY, f"{outside[0]} is outside the allowed paths", "path-not-allowed"
        )
    about = judge_commands(action.arguments, commands)
    trusted = runs_trusted_checks(action, tool)
    # Such a tool exists to show a command that needs review, and trusted checks were reviewed when they were
    # trusted; a denied command is not even shown.
    looked_at = tool.shows_command or trusted
    if about.decision is Decision.DENY or (
        about.decision is Decision.REVIEW and not looked_at
    ):
        return Verdict(Decision.DENY, about.reason, about.rule) if review_only else about
    if tool.risk == READ_ONLY:
        return Verdict(Decision.ALLOW, "reads only", "read-only")
    if tool.decided and (
        tool.decided.decision is Decision.DENY or not review_only or trusted
    ):
        return tool.decided
    if review_only:
        return Verdict(
            Decision.DENY,
            f"{tool.risk} tools do not run in review-only mode",
            "review-only",
        )
    return Verdict(Decision.REVIEW, f"{tool.risk} actions need approval", "needs-approval")


def runs_trusted_checks(action: Action, tool: ToolFacts) -> bool:
    """Return whether it runs exactly the checks that this user trusts: the one exception to review-only mode.

    They run in a scratch checkout of what is recorded, never in the work tree. The name, the risk and the reason of the
    decision must all match.
    """
    decided = tool.decided
    return (
        action.tool == RUN_CHECKS
        and tool.risk == EXECUTE
        and decided is not None
        and (decided.decision, decided.rule) == (Decision.ALLOW, CHECKS_TRUSTED)
    )


def judge_commands(
    arguments: Mapping[str, object], context: "CommandContext | None"
) -> Verdict:
    """Return the strictest verdict on any command in a request, at any depth."""
    strictest = Verdict(
        Decision.ALLOW, "contains no command that needs review", "command-allowed"
    )
    for command in dict.fromkeys(commands_in(arguments)):
        from cli_guard.commands import judge

        judged = judge(command, context)
        if judged.verdict is Decision.ALLOW:
            continue
        rules = (
            each.rule
            for each in judged.effects
            if each.rule and each.decision is judged.verdict
        )
        rule = next(
            rules, "command-denied" if judged.verdict is Decision.DENY else "command-review"
        )
        if judged.verdict is Decision.DENY:
            return Verdict(judged.verdict, judged.reason, rule)
        if strictest.decision is Decision.ALLOW:
            strictest = Verdict(judged.verdict, judged.reason, rule)
    return strictest


def commands_in(value: object, *, named: bool = False) -> Iterator[str]:
    """Yield every text under a command key; a list under it may be several commands, or the words of one."""
    if isinstance(value, str):
        if named:
            yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from commands_in(each, named=named or str(key).lower() in COMMAND_KEYS)
    elif isinstance(value, list | tuple | set | frozenset):
        texts = [each for each in value if isinstance(each, str)]
        if named and len(texts) > 1:
            yield shlex.join(texts)
        for each in value:
            yield from commands_in(each, named=named)


def paths_in(arguments: Mapping[str, object]) -> Iterable[str]:
    """Yield every path that a request names."""
    path = arguments.get("path")
    if isinstance(path, str):
        yield path
    several = arguments.get("paths")
    if isinstance(several, list | tuple):
        yield from (str(each) for each in several)


def judge_findings(
    findings: Iterable[Finding],
    policy: Policy,
    answer: FindAnswer,
    today: datetime.date,
    approved: Mapping[str, str],
) -> GateJudgement:
    """Split the findings into open ones, with their disposition, and answered ones, with the answer.

    `answer` returns the inline suppression of a finding, and whether this change adds it. `approved` are the
    fingerprints that a person approved for this content, with the reason. An approval answers what needs review, never
    what is denied.
    """
    standing: list[JudgedFinding] = []
    suppressed: list[Suppressed] = []
    for finding in findings:
        disposition = policy.disposition(finding)
        if disposition is Disposition.OFF:
            continue
        inline = inline_for(finding, disposition, answer)
        ignore = policy.ignore_for(finding, today)
        if inline:
            suppressed.append(
                Suppressed(finding, "inline", inline[0].reason, new=inline[1])
            )
        elif ignore:
            suppressed.append(Suppressed(finding, "config", ignore.reason))
        elif (
            finding.rule,
            finding.path,
            finding.fingerprint,
        ) in policy.baseline and finding.rule not in UNANSWERABLE:
            suppressed.append(Suppressed(finding, "baseline", "older than the baseline"))
        elif disposition is Disposition.REVIEW and finding.fingerprint in approved:
            suppressed.append(
                Suppressed(finding, "approval", approved[finding.fingerprint])
            )
        else:
            standing.append(JudgedFinding(finding, disposition))
    return GateJudgement(tuple(standing), tuple(suppressed))


def inline_for(
    finding: Finding, disposition: Disposition, answer: FindAnswer
) -> tuple[Suppression, bool] | None:
    """Return the inline suppression that counts for a finding, and whether this change adds it.

    A new one that names no single rule, or gives less than a reason, answers only advice. One that names the place
    where a check stands now answers nothing by itself: `look_at_places` has judged it.
    """
    inline = None if finding.rule in UNANSWERABLE else answer(finding)
    if inline and inline[0].place:
        return None
    if inline and inline[1] and disposition in STOPS and not inline[0].is_explicit:
        return None
    return inline


def announce_suppressions(
    findings: Iterable[Finding], policy: Policy, answer: FindAnswer
) -> list[Finding]:
    """Return the findings, and one for each new or lapsed inline suppression of what would stop the change.

    That one says all: the notice that its comment was added is left out.
    """
    listed = [look_at_places(each, answer) for each in findings]
    stopped = list(newly_answered(listed, policy, answer))
    announced = {(found.path, found.commit, inline.line) for found, inline in stopped}
    kept = [
        each
        for each in listed
        if each.rule != SUPPRESSION_ADDED
        or (each.path, each.commit, each.line) not in announced
    ]
    return kept + [announce(found, inline, policy) for found, inline in stopped]


def look_at_places(finding: Finding, answer: FindAnswer) -> Finding:
    """Return a finding as advice if an answer to it names the place where the check stands now, and it does."""
    inline = answer(finding)
    if inline is None or not inline[0].place:
        return finding
    place = inline[0].place
    if not inline[0].is_checked:
        return replace(finding, message=f"{finding.message}; no such check at {place}")
    message = f"{finding.message}; checked at {place}"
    if finding.severity is not Severity.HIGH:
        return replace(finding, message=message)
    return replace(finding, severity=Severity.MEDIUM, message=message)


def newly_answered(
    findings: Iterable[Finding], policy: Policy, answer: FindAnswer
) -> Iterator[tuple[Finding, Suppression]]:
    """Yield what would be denied or need review, and is answered by a suppression that is new or lapsed."""
    for found in findings:
        disposition = policy.disposition(found)
        inline = inline_for(found, disposition, answer) if disposition in STOPS else None
        if inline and inline[1]:
            yield found, inline[0]


def announce(found: Finding, inline: Suppression, policy: Policy) -> Finding:
    """Return the finding that a new suppression answers another one."""
    comment = (
        "a comment written for other lines than now" if inline.lapsed else "a new comment"
    )
    shown = SCALE[policy.disposition(found)]
    message = f"{comment} ignores {found.rule} ({shown}): {inline.reason}"
    made = one("policy", SUPPRESSION_NEW).finding(
        path=found.path,
        line=found.line,
        message=message,
        content=f"{found.fingerprint} {inline.reason}",
    )
    return replace(made, commit=found.commit)


def judge_record(judgement: GateJudgement) -> Verdict:
    """Decide whether Git may record the change."""
    for disposition, what, rule in (
        (Disposition.DENY, "to fix", "findings-denied"),
        (Disposition.REVIEW, "to approve", "findings-to-review"),
    ):
        found = judgement.of(disposition)
        if found:
            marks = tuple(finding.fingerprint for finding in found)
            said = count_findings(found, what)
            return Verdict(Decision(disposition), said, rule, marks)
    return Verdict(Decision.ALLOW, "no finding blocks it", "no-objection")


def count_findings(findings: Collection[Finding], what: str) -> str:
    """Format `2 findings to fix (secret-x, code-y)`."""
    rules = ", ".join(dict.fromkeys(finding.rule for finding in findings))
    return f"{len(findings)} finding{'s' if len(findings) > 1 else ''} {what} ({rules})"

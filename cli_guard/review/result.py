"""What a run of the graph ends with: its final state made a `Review`, without a secret in any path."""

import datetime
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from cli_guard.model import Decision, Disposition, Finding, JudgedFinding
from cli_guard.review.render.review import Review

if TYPE_CHECKING:
    from cli_guard.graph.state import State
    from cli_guard.policy.decisions import Policy
    from cli_guard.review.load import Gathered
    from cli_guard.reviewers.review_input import ReviewInput

# The base of a branch judges it: an entry counts once the remote has it.
PUSH_ENTRY = (
    "Push it first, alone: `git switch -c entry @{u}`, `git checkout @{-1} cli-guard.toml`, `git commit -m 'Ignore a"
    " finding'`, `git push REMOTE HEAD:BRANCH`, `git switch -`, `git rebase @{u}`, then push again"
)
STOPS = (str(Disposition.DENY), str(Disposition.REVIEW))


def without_secret_names(state: "State") -> "State":
    """Mask every path that contains a secret, everywhere in the state."""
    from cli_guard.secrets.redact import mask_everywhere, redact

    paths = {each.path for each in findings_in(state)}
    paths.update(state["requested_paths"], (each.path for each in state["skipped"]))
    # Checking all of them at once is nearly always enough.
    if redact(together := "\n".join(sorted(paths))) == together:
        return state
    masks = {path: redact(path) for path in paths if redact(path) != path}

    return cast("State", mask_everywhere(state, masks))


def findings_in(state: "State") -> list[Finding]:
    """Return the findings of a state, those that are answered last."""
    judged = [each["finding"] for each in state["judged"]]
    return judged + [each.finding for each in state["suppressed"]]


def list_silenced(state: "State", policy: "Policy", today: datetime.date) -> list[str]:
    """Name what stops a push only by the policy that the remote has: the pushed one would be silent."""
    if not policy.before:
        return []
    pushed = replace(policy, before=())
    waiting = [
        f"{each['finding'].rule} at {each['finding'].path}"
        for each in state["judged"]
        if each["decision"] in STOPS and pushed.ignore_for(each["finding"], today)
    ]
    if waiting:
        listed = ", ".join(dict.fromkeys(waiting))
        return [f"your [[ignore]] of {listed} is not on the remote yet. {PUSH_ENTRY}"]
    quiet = [
        f"{each['finding'].rule} at {each['finding'].path or 'a message'}"
        for each in state["judged"]
        if each["decision"] in STOPS
        and str(pushed.disposition(each["finding"])) not in STOPS
    ]
    listed = ", ".join(dict.fromkeys(quiet))
    return (
        [f"silent under the pushed policy, not under the remote's: {listed}"]
        if quiet
        else []
    )


def first_files(state: "State", subject: "ReviewInput") -> dict[str | None, str]:
    """Return the first file of the whole change, and of each commit with a finding that has no file."""
    from cli_guard.secrets.redact import redact

    wanted = {each.commit for each in findings_in(state) if not each.path}
    changes = (
        (subject.changes, *(each for each in subject.history if each.commit in wanted))
        if wanted
        else ()
    )
    return {
        each.commit: redact(each.files[0].path) for each in reversed(changes) if each.files
    }


def review_of(
    state: "State", gathered: "Gathered", timings: Mapping[str, float], today: datetime.date
) -> Review:
    """Build a `Review` from the final state of a run."""
    from cli_guard.code.languages import unread_language
    from cli_guard.secrets.examples import count_printed_keys

    changes = gathered.subject.changes
    unread = {each.path for each in changes.skipped}
    added = ("\n".join(hunk.added) for change in changes for hunk in change.hunks)
    return Review(
        event=gathered.subject.event,
        status=state["status"],
        decision=Decision(state["decision"]),
        findings=tuple(
            JudgedFinding(each["finding"], Disposition(each["decision"]))
            for each in state["judged"]
        ),
        suppressed=tuple(state["suppressed"]),
        review_id=state["review_id"],
        review_reason=state["review_reason"],
        blocked_actions=tuple(state["blocked_actions"]),
        plan=tuple(state["plan"]),
        tool_results=tuple(state["tool_results"]),
        action_log=tuple(state["action_log"]),
        places=first_files(state, gathered.subject),
        files=len(changes.files),
        reviewed=sum(1 for change in changes if change.path not in unread),
        secrets_only=tuple(
            language
            for change in changes
            if change.path not in unread
            and change.added
            and (language := unread_language(change.path))
        ),
        skipped=tuple(dict.fromkeys(state["skipped"])),
        timings_ms=timings,
        examples=0 if state["judged"] else count_printed_keys(added),
        notes=(
            *gathered.notes,
            *list_silenced(state, gathered.policy, today),
            *(str(each["told"]) for each in state["tool_results"] if each.get("told")),
        ),
    )

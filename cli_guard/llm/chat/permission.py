"""What the person permits in a chat: one act, the same act for the session, or all; a deny beats it.

Nothing is approved here: a yes goes on to the approval path of `cli-guard approve`, which logs each act.
"""

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import partial

from cli_guard.answering.asking import ALWAYS, DIFF, NO, YES, AskedQuestion
from cli_guard.errors import UsageError
from cli_guard.graph.context import Context
from cli_guard.lazy import dataclass
from cli_guard.model import Action, Presence

TRIES = 3
Scope = tuple[str, ...]


@dataclass
class ChatPermission:
    """The answers of one session; never stored. `check_person` raises UsageError if no person can answer.

    `ask` shows a text and a question, and returns the line that is typed after that. `allow_all` is `/allow-all`.
    """

    check_person: Callable[[], None]
    ask: Callable[[str, str], str]
    say: Callable[[str], None]
    allow_all: bool = False
    scopes: set[Scope] = field(default_factory=set)

    def decide(
        self,
        requests: Sequence[Action],
        details: str,
        context: Context,
        *,
        needs_review: bool = False,
    ) -> str:
        """Return the reason of an approval for the audit log, "" if these requests are not approved.

        What the reviewers found in a patch (`needs_review`) is looked at each time.
        """
        try:
            self.check_person()
        except UsageError as error:
            self.say(str(error))
            return ""
        # A stricter level wants a person's act each time.
        lasting = (
            not needs_review
            and Presence.TTY is context.policy.highest is context.policy.trust
        )
        scopes = {scope_of(each) for each in requests}
        named = "; ".join(" ".join(each) for each in sorted(scopes))
        if lasting and (self.allow_all or scopes <= self.scopes):
            self.say(
                f"{details}\napproved, as you allowed {'all' if self.allow_all else named} for this session"
            )
            return "chat: /allow-all" if self.allow_all else "chat: for this session"
        question = AskedQuestion(
            "Approve exactly this?",
            always=f"for this session: {named}" if lasting else "",
            show_diff=partial(self.say, details),
        )
        shown = details
        for _ in range(TRIES):
            reply = question.read(self.ask(shown, question.line))
            shown = details if reply == DIFF else ""
            if reply == ALWAYS:
                self.scopes |= scopes
                return "chat: for this session"
            if reply in (YES, NO):
                return "chat: once" if reply == YES else ""
        return ""


def scope_of(action: Action) -> Scope:
    """Return what an `a` covers: the tool; of commands exactly this one.

    `make` would cover `make -f other`, `npm run test` would cover `npm run deploy`, `git push` another remote.
    """
    command = (str(action.arguments["command"]),) if action.tool == "run_command" else ()
    return (action.tool, *command)

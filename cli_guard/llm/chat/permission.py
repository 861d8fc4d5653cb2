"""What the person permits in a chat: one act, the same act for the session, or all; a deny beats it.

Nothing is approved here: a yes goes on to the approval path of `cli-guard approve`, which logs each act. The tests
that cover a written patch are offered, and run as `cli-guard exec` runs a command.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

from cli_guard.answering.asking import ALWAYS, DIFF, NO, YES, AskedQuestion
from cli_guard.commands import judge
from cli_guard.errors import UsageError
from cli_guard.execution.approved import CommandRunner
from cli_guard.execution.command import CommandRequest, RunRecord
from cli_guard.execution.context import command_context
from cli_guard.execution.permission import Permission, PermissionBasis
from cli_guard.graph.context import Context
from cli_guard.lazy import dataclass
from cli_guard.model import Action, Decision, Presence
from cli_guard.repository.protocol import Repository
from cli_guard.runtime import Invocation
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact

TRIES = 3
Scope = tuple[str, ...]
SECONDS = 120.0
# Python takes a file of the same size and second for the one that it has compiled: two quick edits may be so.
NO_CACHE = {"PYTHONDONTWRITEBYTECODE": "1"}
# So often a failure goes back to the model, in one turn.
ROUNDS = 2
QUESTION = "Run the tests that cover it? [t]est · [N]o: "
MODES = {
    "ask": "you are asked each time",
    "on": "run at once where the judge allows them, such as in a trusted tree; else you are asked",
    "off": "not offered",
}


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


@dataclass
class CoveringTests:
    """The covering tests of one chat; `ask` shows a text and a question, and returns what is typed.

    `rounds` counts the failures of the turn. What was allowed for the session (`/allow-all`) is not looked at: a test
    runs code that the model has just written.
    """

    repository: Repository
    now: Callable[[], Invocation]
    ask: Callable[[str, str], str]
    say: Callable[[str], None]
    mode: str = "ask"
    rounds: int = 0

    def offer(self, command: str) -> Mapping[str, Any] | None:
        """Run a command if it is allowed and wanted; return its summary, None if it was not run.

        Raises CliGuardError, KeyboardInterrupt; nothing that it started is left running.
        """
        if not command or self.mode == "off":
            return None
        folder = Path(self.repository.root_name)
        invocation = self.now()
        verdict = judge(command, command_context(folder, invocation.env))
        shown = printable(redact(command))
        if verdict.verdict is Decision.DENY:
            self.say(f"the covering tests are denied: {shown}: {verdict.reason}")
            return None
        basis = PermissionBasis.ALLOWED
        if verdict.verdict is not Decision.ALLOW or self.mode != "on":
            why = f"\nwhy: {verdict.reason}" if verdict.reason else ""
            details = f"runs  {shown}\nfor   {SECONDS:g} seconds at most{why}"
            if self.ask(details, QUESTION).strip().lower() not in ("t", "test"):
                return None
            basis = PermissionBasis.YES
        record = RunRecord(self.repository.state_folder, self.now, self.say)
        record.record_permission(
            CommandRequest((command,), folder), Permission(verdict, basis)
        )
        kept = self.repository.state_folder
        env = {**invocation.env, **NO_CACHE}
        runner = CommandRunner(str(folder), env, kept, self.say, seconds=SECONDS)
        end: dict[str, object] = {"return_code": None, "ended": "interrupted"}
        try:
            ran = runner.run(command, str(folder))
            end = {"return_code": ran["exit_code"], "timed_out": ran["timed_out"]}
        finally:
            record.note("exec-end", **end)
        self.rounds += bool(ran["problem"])
        self.say(f"covering tests: {ran['problem'] or 'passed'}")
        return ran

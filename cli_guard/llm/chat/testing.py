"""The tests that cover a written patch: offered to the person, run as `cli-guard exec` runs a command.

command of the covering tests -> judged -> the person's key, or the trust in the tree -> run -> summary
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cli_guard.commands import judge
from cli_guard.execution.approved import CommandRunner
from cli_guard.execution.command import CommandRequest, RunRecord
from cli_guard.execution.context import command_context
from cli_guard.execution.permission import Permission, PermissionBasis
from cli_guard.lazy import dataclass
from cli_guard.model import Decision
from cli_guard.repository.protocol import Repository
from cli_guard.runtime import Invocation
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact

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

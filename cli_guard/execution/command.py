"""A command to run: its words, what of them is judged, and its entries in the audit log."""

import shlex
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from cli_guard.commands import Context
from cli_guard.commands.effects.environment import variable_means
from cli_guard.commands.model import EffectKind
from cli_guard.execution.context import command_context, root_of
from cli_guard.execution.permission import Permission
from cli_guard.lazy import frozen
from cli_guard.runtime import Invocation
from cli_guard.secrets.printable import clip, printable
from cli_guard.secrets.redact import redact
from cli_guard.state.audit import AuditLog, entry

# Characters of a command in the audit log.
KEPT = 2_000
# A word of bash's grammar (bash(1), RESERVED WORDS) is the name of a program where no shell reads it.
RESERVED = frozenset(
    "case coproc do done elif else esac fi for function if in select then until while time".split()
)


@frozen
class CommandRequest:
    """A command and what it is given; `named` are variables beside those of a clean environment.

    One word is a text for bash, several are a program and its arguments; `stdin` is its standard input.
    """

    words: tuple[str, ...]
    folder: Path
    named: Mapping[str, str] = field(default_factory=dict, repr=False)
    stdin: str | None = None

    @property
    def command(self) -> str | Sequence[str]:
        return self.words[0] if len(self.words) == 1 else self.words

    @property
    def text(self) -> str:
        """The command as one would type it."""
        if len(self.words) == 1:
            return self.words[0]
        first = self.words[0]
        if "=" in first or first in RESERVED:
            # Unquoted it would be an assignment or a reserved word.
            return (
                f"'{first}' {shlex.join(self.words[1:])}"
                if "'" not in first
                else shlex.join(self.words)
            )
        return shlex.join(self.words)

    @property
    def text_to_judge(self) -> str:
        """The text to judge: the command with its input, and the variables that decide what code runs."""
        variables = [
            f"{name}={shlex.quote(value)}"
            for name, value in self.named.items()
            if (meaning := variable_means(name, value))
            and meaning[0] is not EffectKind.UNKNOWN
        ]
        if not variables and self.stdin is None:
            return self.text
        text = f"bash -c {shlex.quote(self.text)}" if len(self.words) == 1 else self.text
        given = (
            []
            if self.stdin is None
            else ["<<<", shlex.quote(self.stdin.removesuffix("\n"))]
        )
        return " ".join((*variables, text, *given))

    def context(self, invocation: Invocation) -> Context:
        """Return where it would run; in another work tree the patterns of the current one apply as well."""
        there = command_context(self.folder, invocation.env)
        if root_of(self.folder) == root_of(invocation.cwd):
            return there
        here = command_context(invocation.cwd, invocation.env)
        return replace(
            there, patterns=tuple(dict.fromkeys((*there.patterns, *here.patterns)))
        )


class RunRecord:
    """The audit entries of one run, its permission and its result, which share one `run` id."""

    def __init__(
        self,
        folder: Path,
        invocation: Callable[[], Invocation],
        tell: Callable[[str], None],
    ) -> None:
        self._log = AuditLog(folder)
        self._invocation = invocation
        self._tell = tell
        self._reported = False
        self.id = uuid.uuid4().hex[:12]

    def record_permission(
        self, request: CommandRequest, given: Permission, **details: object
    ) -> None:
        """Record whether it may run, before it does, so that no crash loses the entry."""
        rules = Counter(each.rule for each in given.verdict.effects if each.rule)
        self.note(
            "exec",
            command=printable_command(given.verdict.command),
            folder=printable(str(request.folder)),
            verdict=str(given.verdict.verdict),
            reason=printable_command(given.verdict.reason),
            rules=dict(sorted(rules.items())),
            answer=str(given.answer),
            **details,
        )

    def note(self, event: str, **details: object) -> None:
        """Append one entry; report a failed write once, and go on."""
        try:
            self._log.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._log.append(entry(event, self._invocation(), run=self.id, **details))
        except OSError as error:
            if not self._reported:
                self._tell(
                    f"cli-guard: not recorded in {self._log.path.parent}: {error.strerror or error}"
                )
            self._reported = True


def printable_command(text: str) -> str:
    """Return a command's text for the log: masked, printable, cut."""
    return clip(printable(redact(text), keep_newlines=True), KEPT)

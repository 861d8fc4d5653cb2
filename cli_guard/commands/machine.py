"""The shell that walks a script: its state, the effects it has collected, and the ways to run more."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from cli_guard.commands.effects.environment import variable_means
from cli_guard.commands.expand.fields import Field
from cli_guard.commands.expand.words import Expander
from cli_guard.commands.invocations import Invocation
from cli_guard.commands.model import DECISIONS, GUARD_OFF, Context, Effect, Kind, Span
from cli_guard.commands.parse.tree import Node, Script
from cli_guard.commands.scope import MOST_STEPS, NOTHING, Budget, Scope, Stream
from cli_guard.model import Decision


@dataclass
class Machine(ABC):
    """One shell with its effects so far, each with the commands that have it."""

    scope: Scope
    budget: Budget = field(init=False)
    effects: dict[Effect, list[Invocation | None]] = field(default_factory=dict)
    invocations: list[Invocation] = field(default_factory=list)
    caller: Invocation | None = None
    partial: bool = False
    running: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.budget = Budget(MOST_STEPS[self.context.setting])

    @property
    def context(self) -> Context:
        return self.scope.context

    def emit(
        self,
        kind: Kind,
        target: str | None,
        reason: str,
        span: Span,
        *,
        rule: str = "",
        decision: Decision | None = None,
        alternative: str = "",
    ) -> None:
        place = self.budget.place(span)
        line = reason
        if not reason.isprintable():
            line = "".join(
                each if each.isprintable() else "?" for each in " ".join(reason.split())
            )
        effect = Effect(
            kind, target, decision or DECISIONS[kind], line, place, rule, alternative
        )
        self.effects.setdefault(effect, []).append(self.caller)
        if kind is Kind.UNKNOWN:
            self.partial = True

    @contextmanager
    def nested(self, span: Span) -> Iterator[None]:
        """Report everything inside at this place. Raises OutOfBudget."""
        self.budget.outer.append(self.budget.place(span))
        self.budget.depth += 1
        try:
            yield
        finally:
            self.budget.depth -= 1
            self.budget.outer.pop()

    @contextmanager
    def acting(self, caller: Invocation | None) -> Iterator[None]:
        """Attribute the effects inside to this command, or with None to no command (redirections, texts, functions)."""
        outer = self.caller
        self.caller = caller
        try:
            yield
        finally:
            self.caller = outer

    @contextmanager
    def subshell(self) -> Iterator[None]:
        """Run what is inside on a copy of the state and drop the copy."""
        outer = self.scope
        self.scope = self.scope.copy()
        try:
            yield
        finally:
            self.scope = outer

    def environment(self, name: str, value: str | None, span: Span) -> None:
        """Set an environment variable for what runs from here on."""
        self.scope.exported.add(name)
        meaning = variable_means(name, value)
        if meaning:
            kind, reason = meaning
            rule = GUARD_OFF if kind is Kind.GUARD else ""
            # The value says whose code it brings.
            target = name if value is None or kind is Kind.GUARD else f"{name}={value}"
            self.emit(kind, target, reason, span, rule=rule)

    @abstractmethod
    def expander(self) -> Expander:
        """Return an expander of words in the present state."""

    @abstractmethod
    def set_variable(self, name: str, value: Stream) -> None:
        """Give a variable its value."""

    @abstractmethod
    def reject(self, construct: str, span: Span) -> None:
        """Emit that a construct is outside of the plain subset."""

    @abstractmethod
    def check_name(self, name: str, span: Span) -> None:
        """Reject setting a variable that may mean something to a program or to bash."""

    @abstractmethod
    def run_script(self, script: Script, stdin: Stream = NOTHING) -> Stream:
        """Run a parsed script."""

    @abstractmethod
    def run_nested(self, text: str, span: Span, stdin: Stream = NOTHING) -> Stream:
        """Run a text that is a word or a here-document at one place of the script."""

    @abstractmethod
    def run_child(self, text: str, span: Span, stdin: Stream = NOTHING) -> Stream:
        """Run a text in a child shell; none of its variables come back."""

    @abstractmethod
    def call(
        self, name: str, body: Node, arguments: tuple[Stream, ...] | None, stdin: Stream
    ) -> Stream:
        """Run a function."""

    @abstractmethod
    def invoke(self, fields: list[Field], stdin: Stream, span: Span) -> Stream:
        """Run a command (function, alias or program); return what it prints."""

"""What every part of the engine knows of the shell that walks: its state, what it has found, how it goes on."""

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
from cli_guard.commands.scope import NOTHING, Budget, Scope, Stream
from cli_guard.model import Decision


@dataclass
class Machine(ABC):
    """One shell, with what it has collected so far: each effect with the commands that have it."""

    scope: Scope
    budget: Budget = field(default_factory=Budget)
    effects: dict[Effect, list[Invocation | None]] = field(default_factory=dict)
    invocations: list[Invocation] = field(default_factory=list)
    caller: Invocation | None = None
    partial: bool = False
    running: list[str] = field(default_factory=list)

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
        """One effect."""
        place = self.budget.place(span)
        line = reason
        if not reason.isprintable():
            line = "".join(each if each.isprintable() else "?" for each in " ".join(reason.split()))
        effect = Effect(kind, target, decision or DECISIONS[kind], line, place, rule, alternative)
        self.effects.setdefault(effect, []).append(self.caller)
        if kind is Kind.UNKNOWN:
            self.partial = True

    @contextmanager
    def nested(self, span: Span) -> Iterator[None]:
        """Everything inside is reported at this place. Raises OutOfBudget."""
        self.budget.outer.append(self.budget.place(span))
        self.budget.depth += 1
        try:
            yield
        finally:
            self.budget.depth -= 1
            self.budget.outer.pop()

    @contextmanager
    def acting(self, caller: Invocation | None) -> Iterator[None]:
        """What happens inside is done by this command, or by none: redirections, texts, bodies of functions."""
        outer, self.caller = self.caller, caller
        try:
            yield
        finally:
            self.caller = outer

    @contextmanager
    def subshell(self) -> Iterator[None]:
        """What happens inside works on a copy of the state, of which nothing comes back."""
        outer, self.scope = self.scope, self.scope.copy()
        try:
            yield
        finally:
            self.scope = outer

    def environment(self, name: str, value: str | None, span: Span) -> None:
        """A variable of the environment is set for what runs from here on."""
        meaning = variable_means(name, value)
        if meaning:
            kind, reason = meaning
            rule = GUARD_OFF if kind is Kind.GUARD else ""
            self.emit(kind, name, reason, span, rule=rule)

    @abstractmethod
    def expander(self) -> Expander:
        """Expands words in the state as it is now."""

    @abstractmethod
    def run_script(self, script: Script, stdin: Stream = NOTHING) -> Stream:
        """Runs a script that has been read."""

    @abstractmethod
    def run_nested(self, text: str, span: Span, stdin: Stream = NOTHING) -> Stream:
        """Runs a text that stands, as a word or a here-document, at one place of the script."""

    @abstractmethod
    def run_child(self, text: str, span: Span, stdin: Stream = NOTHING) -> Stream:
        """Runs a text in a shell of its own, of whose variables nothing comes back."""

    @abstractmethod
    def call(self, name: str, body: Node, arguments: tuple[Stream, ...] | None, stdin: Stream) -> Stream:
        """Runs a function."""

    @abstractmethod
    def invoke(self, fields: list[Field], stdin: Stream, span: Span) -> Stream:
        """A command with its words: a function, an alias or a program."""

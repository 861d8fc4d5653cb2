"""A shell in which a script is walked through: its state, the effects it has collected, and the ways to run more."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from itertools import islice

from cli_guard.commands.effects.environment import CODE_NAMES, HOOK_SWITCHES, variable_means
from cli_guard.commands.expand.fields import Field
from cli_guard.commands.expand.words import Expander
from cli_guard.commands.invocations import ProgramInvocation
from cli_guard.commands.model import (
    DECISIONS,
    GUARD_OFF,
    Context,
    Effect,
    EffectKind,
    Setting,
    Span,
)
from cli_guard.commands.parse.syntax import parse
from cli_guard.commands.parse.tree import Node, Nodes, Script
from cli_guard.commands.plain import find_names, find_outside, is_plain_name
from cli_guard.commands.scope import (
    ANYTHING,
    MOST_STEPS,
    NOTHING,
    REMOTE,
    SECRET,
    ShellScope,
    Stream,
    WorkBudget,
    make_unsure,
    merge,
    share_input,
)
from cli_guard.lazy import dataclass, frozen
from cli_guard.model import Decision


@frozen
class Interpreter:
    """What runs a node of a script, and a command by its name: functions of `walk` and `effects.invocation`."""

    run_node: "Callable[[Shell, Node, Stream], Stream]"
    invoke: "Callable[[Shell, list[Field], Stream, Span], Stream]"


@dataclass
class Shell:
    """One shell with its effects so far, each with the commands that have it.

    `names_read` are the variables of all texts but `parsed`, `called` the bodies that ran, `assigned` what a loop set,
    `written` are the texts that went into each file, None for an unknown one, `extended` the files that hold something
    else as well; of the written files that ran, `judged` are those whose text was walked through, and `started` names
    the program that ran each of the others. `statement` is how many effects
    there were before the statement that runs.
    """

    scope: ShellScope
    interpreter: Interpreter
    budget: WorkBudget = field(init=False)
    effects: dict[Effect, list[ProgramInvocation | None]] = field(default_factory=dict)
    invocations: list[ProgramInvocation] = field(default_factory=list)
    caller: ProgramInvocation | None = None
    partial: bool = False
    running: list[str] = field(default_factory=list)
    uncalled: dict[str, Node] = field(default_factory=dict)
    called: set[int] = field(default_factory=set)
    assigned: dict[str, set[Stream]] = field(default_factory=dict)
    parsed: list[Script] = field(default_factory=list)
    names_read: set[str] = field(default_factory=set)
    written: dict[str, list[str | None]] = field(default_factory=dict)
    extended: set[str] = field(default_factory=set)
    judged: set[str] = field(default_factory=set)
    started: dict[str, str] = field(default_factory=dict)
    statement: int = 0

    def __post_init__(self) -> None:
        self.budget = WorkBudget(MOST_STEPS[self.context.setting])

    @property
    def context(self) -> Context:
        return self.scope.context

    @property
    def in_change(self) -> bool:
        """Return whether the script is a part of a change, and nobody is about to run it."""
        return self.context.setting is Setting.CHANGE

    def deny(
        self, kind: EffectKind, target: str | None, reason: str, span: Span, rule: str
    ) -> None:
        """Emit what no configuration allows."""
        self.emit(kind, target, reason, span, rule=rule, decision=Decision.DENY)

    def emit(
        self,
        kind: EffectKind,
        target: str | None,
        reason: str,
        span: Span,
        *,
        rule: str = "",
        decision: Decision | None = None,
        alternative: str = "",
    ) -> None:
        place = self.budget.place(span)
        if kind is EffectKind.GUARD and decision is None:
            rule = GUARD_OFF
        line = reason
        if not reason.isprintable():
            line = "".join(
                each if each.isprintable() else "?" for each in " ".join(reason.split())
            )
        effect = Effect(
            kind, target, decision or DECISIONS[kind], line, place, rule, alternative
        )
        self.effects.setdefault(effect, []).append(self.caller)
        if kind is EffectKind.UNKNOWN:
            self.partial = True

    @contextmanager
    def nest(self, span: Span) -> Iterator[None]:
        """Report everything inside at this place. Raises OutOfBudget."""
        self.budget.outer.append(self.budget.place(span))
        self.budget.depth += 1
        try:
            yield
        finally:
            self.budget.depth -= 1
            self.budget.outer.pop()

    @contextmanager
    def acting(self, caller: ProgramInvocation | None) -> Iterator[None]:
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
            # The value says whose code it brings.
            target = (
                name if value is None or kind is EffectKind.GUARD else f"{name}={value}"
            )
            self.emit(kind, target, reason, span)

    def invoke(self, fields: list[Field], stdin: Stream, span: Span) -> Stream:
        """Run a command (function, alias or program); return what it prints."""
        return self.interpreter.invoke(self, fields, stdin, span)

    def run(self, node: Node, stdin: Stream = NOTHING) -> Stream:
        """Run one node and return what it prints."""
        self.budget.step()
        return self.interpreter.run_node(self, node, stdin)

    def run_text(self, text: str, stdin: Stream = NOTHING) -> Stream:
        """Run a text. What is outside of the plain subset, or no shell syntax at all, is an effect of its own."""
        self.budget.read(text)
        script = parse(text)
        self.parsed.append(script)
        for span in script.errors[:1]:
            with self.acting(None):
                self.emit(EffectKind.UNKNOWN, None, "not understood as shell syntax", span)
        if not self.in_change:
            for span, construct in find_outside(script):
                self.reject(construct, span)
        return self.run_script(script, stdin)

    def run_nested(self, text: str, span: Span, stdin: Stream = NOTHING) -> Stream:
        with self.nest(span):
            return self.run_text(text, stdin)

    def run_child(self, text: str, span: Span, stdin: Stream = NOTHING) -> Stream:
        """Run a text in a new shell, which sees the exported variables, if `env` has not taken them away."""
        with self.subshell():
            held = self.scope.variables
            names = self.scope.exported.intersection(held)
            self.scope.variables = {
                name: replace(held[name], assumed=True) for name in names
            }
            self.scope.functions = {}
            self.scope.aliases = {}
            return self.run_nested(text, span, stdin)

    def run_script(self, script: Script, stdin: Stream = NOTHING) -> Stream:
        with self.acting(None):
            return self.run_nodes(script.items, stdin)

    def run_nodes(self, nodes: Nodes, stdin: Stream) -> Stream:
        """Run commands one after the other; each may be the one that reads the input, or what others have left."""
        outputs = []
        outer = self.statement
        for node in nodes:
            outputs.append(self.run_next(node, stdin))
            stdin = share_input(stdin)
        self.statement = outer
        return merge(outputs)

    def run_next(self, node: Node, stdin: Stream) -> Stream:
        """Run a command of a list; where a `cd` may have failed, what follows runs in one of two folders."""
        self.statement = len(self.effects)
        output = self.run(node, stdin)
        self.scope.unsure_folder = self.scope.unsure_folder or self.scope.may_have_stayed
        self.scope.may_have_stayed = False
        return output

    def has_read(self, path: str) -> bool:
        """Return whether the statement that runs has read a file."""
        return any(
            each.kind is EffectKind.READ and each.target == path
            for each in islice(self.effects, self.statement, None)
        )

    def reject(self, construct: str, span: Span) -> None:
        """Emit that a construct is outside of the plain subset, so that what it does is not judged."""
        if not self.in_change:
            with self.acting(None):
                self.emit(EffectKind.UNKNOWN, None, f"uses {construct}: not judged", span)

    def call(
        self, name: str, body: Node, arguments: tuple[Stream, ...] | None, stdin: Stream
    ) -> Stream:
        self.uncalled.pop(name, None)
        self.called.add(id(body))
        running = f"{name} {id(body)}"
        if running in self.running:
            self.emit(
                EffectKind.UNKNOWN,
                name,
                f"{name} calls itself, and for how long is not known",
                Span(0, 0),
            )
            return ANYTHING
        outer = self.scope.arguments
        self.scope.arguments = arguments
        variables = dict(self.scope.variables)
        self.running.append(running)
        try:
            with self.acting(None):
                return self.run(body, stdin)
        finally:
            self.running.pop()
            self.scope.arguments = outer
            # A function may end before it sets a variable, or the variable may be local.
            self.scope.variables = make_unsure(variables, self.scope.variables)

    def set_variable(self, name: str, value: Stream) -> None:
        self.scope.variables[name] = value
        self.assigned.setdefault(name, set()).add(value)

    def check_name(self, name: str, span: Span) -> None:
        """Reject setting a variable that programs may read, unless the text reads it, or bash itself."""
        while self.parsed:
            self.names_read.update(find_names(self.parsed.pop().items))
        if not is_plain_name(name, self.names_read):
            self.reject(f"{name}, which may mean something to a program", span)

    def extend_file(self, path: str) -> None:
        """Note that what is written next goes behind what a file holds."""
        if path not in self.written:
            self.extended.add(path)

    def text_written(self, path: str) -> str | None:
        """Return all that went into a file, None if some of it is not known."""
        texts = self.written.get(path, [None])
        known = [text for text in texts if text is not None]
        return "".join(known) if len(known) == len(texts) else None

    def find_tainted_files(self) -> dict[str, frozenset[str]]:
        """Return the files that hold a download or a secret at the end."""
        return {
            path: stream.taints
            for path, stream in self.scope.files.items()
            if stream.taints & {REMOTE, SECRET}
        }

    def expander(self) -> Expander:
        return Expander(self.scope, self.substitute, self.set_by_default, self.reject)

    def set_by_default(self, name: str, value: Stream, span: Span) -> None:
        """Set a variable for `${name:=value}`."""
        self.set_variable(name, value)
        if name in self.scope.exported or CODE_NAMES.match(name) or name in HOOK_SWITCHES:
            self.environment(name, value.text, span)

    def substitute(self, script: Script) -> Stream:
        """Run `$(...)` or `<(...)` in a subshell."""
        self.budget.depth += 1
        try:
            with self.subshell():
                self.budget.read("")
                return self.run_script(script)
        finally:
            self.budget.depth -= 1

    def lose_folder(self, before: str | None) -> None:
        """Take the current folder as unsure after commands that may not have run and have changed it."""
        self.scope.unsure_folder = self.scope.unsure_folder or self.scope.folder != before

"""Walk through a script as a shell would, without running anything, and collect its effects."""

import re
from contextlib import nullcontext
from dataclasses import dataclass, field

from cli_guard.commands import floors
from cli_guard.commands.effects.environment import CODE_NAMES, HOOK_SWITCHES
from cli_guard.commands.effects.invocation import invoke
from cli_guard.commands.effects.redirects import FROM_NETWORK, apply_redirects, is_connected, write_sinks
from cli_guard.commands.expand.arithmetic import compute, compute_text, compute_value
from cli_guard.commands.expand.fields import Field, stream_of
from cli_guard.commands.expand.words import Expander
from cli_guard.commands.machine import Machine
from cli_guard.commands.model import Kind, Span
from cli_guard.commands.parse.joining import respell
from cli_guard.commands.parse.syntax import parse
from cli_guard.commands.parse.tree import (
    Arithmetic,
    Assignment,
    Block,
    Command,
    For,
    Function,
    Node,
    Pipeline,
    Script,
)
from cli_guard.commands.scope import (
    ANYTHING,
    MOST_ELEMENTS,
    NOTHING,
    NUMBER,
    REMOTE,
    SECRET,
    Stream,
    make_unsure,
    merge,
    restore,
)

# `([subscript]=value)`: an element of an array with its place.
PLACED = re.compile(r"\[(.*?)\]\+?=", re.DOTALL)
# A backslash at a line end in the middle of a word.
CONTINUED = re.compile(r"(?<=[^\s\\])\\\n(?=\S)")


@dataclass
class Shell(Machine):
    """A shell that walks a script node by node."""

    uncalled: dict[str, Node] = field(default_factory=dict)

    def invoke(self, fields: list[Field], stdin: Stream, span: Span) -> Stream:
        return invoke(self, fields, stdin, span)

    def run_nested(self, text: str, span: Span, stdin: Stream = NOTHING) -> Stream:
        with self.nested(span):
            return self.run_text(text, stdin)

    def run_text(self, text: str, stdin: Stream = NOTHING) -> Stream:
        """Run a text; what bash accepts and the grammar does not is respelled first."""
        self.budget.read(text)
        if CONTINUED.search(text):
            with self.nested(Span(0, len(text))):
                return self.run_script(parse(CONTINUED.sub("", text)), stdin)
        script = parse(text)
        again = respell(text) if script.errors else text
        if again != text:
            other = parse(again)
            if len(other.errors) < len(script.errors):
                with self.nested(script.errors[0]):
                    return self.run_script(other, stdin)
        return self.run_script(script, stdin)

    def run_child(self, text: str, span: Span, stdin: Stream = NOTHING) -> Stream:
        with self.subshell():
            return self.run_nested(text, span, stdin)

    def run_script(self, script: Script, stdin: Stream = NOTHING) -> Stream:
        """Run a script; what the grammar did not understand is an effect of its own."""
        with self.acting(None):
            output = self.run_nodes(script.items, stdin)
            for span in script.errors[:1]:
                self.emit(Kind.UNKNOWN, None, "not understood as shell syntax", span)
        return output

    def run_nodes(self, nodes: tuple[Node, ...], stdin: Stream) -> Stream:
        """Run commands one after the other; each may be the one that reads the input."""
        return merge([self.run(node, stdin) for node in nodes])

    def run(self, node: Node, stdin: Stream = NOTHING) -> Stream:
        """Run one node and return what it prints."""
        self.budget.step()
        if isinstance(node, Command):
            return self.command(node, stdin)
        if isinstance(node, Pipeline):
            stream = stdin
            for stage in node.stages:
                stream = self.run_in_subshell(stage, stream)
            return stream
        if isinstance(node, Arithmetic):
            expression = self.expander().one(node.expression)
            if node.array not in self.scope.keyed:
                compute(self, expression)
            return NUMBER
        if isinstance(node, For):
            return self.for_each(node, stdin)
        if isinstance(node, Function):
            return self.define(node)
        return self.block(node, stdin)

    def run_in_subshell(self, node: Node, stdin: Stream) -> Stream:
        with self.subshell():
            return self.run(node, stdin)

    def block(self, node: Block, stdin: Stream) -> Stream:
        """Run a group, a branch or a loop; a subshell works on a copy of the state."""
        source, sinks = apply_redirects(self, node.redirects, stdin)
        with self.subshell() if node.kind in ("subshell", "background") else nullcontext():
            # The first command of a list always runs, later ones may not.
            sure = 1 if node.kind == "list" else 0
            first = self.run_nodes(node.items[:sure], source)
            variables = dict(self.scope.variables)
            output = merge([first, self.run_nodes(node.items[sure:], source)])
            if node.kind in ("if", "case", "loop", "list"):
                self.scope.variables = make_unsure(variables, self.scope.variables)
        return write_sinks(self, output, sinks)

    def for_each(self, node: For, stdin: Stream) -> Stream:
        fields = self.expander().fields(node.words) if node.words is not None else []
        streams = [stream_of(each) for each in fields] or [self.expander().variable("@")]
        outputs = []
        if CODE_NAMES.match(node.name):
            self.environment(node.name, None, node.span)
        for stream in dict.fromkeys(streams):
            self.set_variable(node.name, stream, node.span)
            outputs.append(self.block(node.body, stdin))
        return merge(outputs)

    def define(self, node: Function) -> Stream:
        """Define a function; it is judged at its calls, or at the end if there are none."""
        self.scope.functions[node.name] = node.body
        if floors.calls_itself_twice(node):
            floors.deny_fork_bomb(self, node.span)
        else:
            self.uncalled[node.name] = node.body
        return NOTHING

    def call(self, name: str, body: Node, arguments: tuple[Stream, ...] | None, stdin: Stream) -> Stream:
        self.uncalled.pop(name, None)
        running = f"{name} {id(body)}"
        if running in self.running:
            self.emit(Kind.UNKNOWN, name, f"{name} calls itself, and for how long is not known", Span(0, 0))
            return ANYTHING
        outer, self.scope.arguments = self.scope.arguments, arguments
        variables, local, self.scope.local = dict(self.scope.variables), self.scope.local, set()
        self.running.append(running)
        try:
            with self.acting(None):
                return self.run(body, stdin)
        finally:
            self.running.pop()
            self.scope.arguments = outer
            # A function may end before it sets a variable.
            after = {**self.scope.variables, **restore(variables, self.scope.local)}
            self.scope.variables, self.scope.local = make_unsure(variables, after), local

    def command(self, node: Command, stdin: Stream) -> Stream:
        expander = self.expander()
        fields = expander.fields(node.words)
        source, sinks = apply_redirects(self, node.redirects, stdin)
        if not fields:
            for assignment in node.assignments:
                self.assign(assignment, expander, alone=True)
            return write_sinks(self, source if node.redirects and not node.words else NOTHING, sinks)
        outer = dict(self.scope.variables)
        for assignment in node.assignments:
            # `IFS= read` is how a line is read: it splits nothing else.
            reads_line = assignment.name == "IFS" and fields[0].text in ("read", "mapfile", "readarray")
            self.assign(assignment, expander, alone=reads_line)
        if source == NOTHING and self.scope.stdin is not None:
            source = self.scope.stdin
        if source == NOTHING and is_connected(self, sinks):
            source = FROM_NETWORK
        output = self.invoke(fields, source, node.span)
        if node.assignments:
            self.scope.variables = {
                **self.scope.variables,
                **restore(outer, (each.name for each in node.assignments)),
            }
        return write_sinks(self, output, sinks)

    def assign(self, node: Assignment, expander: Expander, *, alone: bool) -> None:
        values = [expander.one(word) for word in node.values]
        streams = tuple(stream_of(each) for each in values)
        value = streams[0] if len(streams) == 1 and not node.array else merge(streams)
        if node.array:
            held = self.scope.variables.get(node.name, NOTHING)
            elements = tuple(stream_of(each) for each in expander.fields(node.values))
            items = (*(held.items or ()), *elements) if node.append else elements
            placed = [found for each in elements if (found := PLACED.match(each.text or ""))]
            if node.name not in self.scope.keyed:
                for found in placed:
                    compute_text(self, found[1], node.span, set())
            value = Stream(None, value.taints, value.origin, items=items)
            if placed or len(items) > MOST_ELEMENTS:
                value = Stream(None, value.taints)
        elif node.append:
            value = merge([self.scope.variables.get(node.name, NOTHING), value])
        elif items_before := self.scope.variables.get(node.name, NOTHING).items:
            value = Stream(None, value.taints, items=(value, *items_before[1:]))
        exported = (
            not alone
            or node.name in self.scope.exported
            or (node.name != "IFS" and bool(CODE_NAMES.match(node.name)))
        )
        self.set_variable(node.name, Stream(None, value.taints) if node.element else value, node.span)
        if exported:
            self.environment(node.name, value.text, node.span)

    def set_variable(self, name: str, value: Stream, span: Span) -> None:
        if name in self.scope.integers:
            compute_value(self, value, span, set())
            value = NUMBER
        self.scope.variables[name] = value

    def find_tainted_files(self) -> dict[str, frozenset[str]]:
        """Return the files that hold a download or a secret at the end."""
        return {
            path: stream.taints
            for path, stream in self.scope.files.items()
            if stream.taints & {REMOTE, SECRET}
        }

    def expander(self) -> Expander:
        return Expander(self.scope, self.substitute, self.set_by_default)

    def set_by_default(self, name: str, value: Stream, span: Span) -> None:
        """Set a variable for `${name:=value}`."""
        self.set_variable(name, value, span)
        if name in self.scope.exported or CODE_NAMES.match(name) or name in HOOK_SWITCHES:
            self.environment(name, value.text, span)

    def substitute(self, script: Script, kind: str) -> Stream:
        """Run `$(...)` or `<(...)` in a subshell."""
        self.budget.depth += 1
        try:
            with self.subshell():
                self.budget.read("")
                return self.run_script(script)
        finally:
            self.budget.depth -= 1

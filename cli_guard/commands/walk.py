"""Walk through a script as a shell would, without running anything, and collect its effects."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial

from cli_guard.commands import floors
from cli_guard.commands.effects import redirects
from cli_guard.commands.effects.environment import CODE_NAMES, HOOK_SWITCHES, variable_means
from cli_guard.commands.effects.invocation import invoke
from cli_guard.commands.expand.fields import Field, stream_of
from cli_guard.commands.expand.words import Expander
from cli_guard.commands.machine import Machine
from cli_guard.commands.model import Kind, Setting, Span
from cli_guard.commands.parse.syntax import parse
from cli_guard.commands.parse.tree import (
    AndOr,
    Assignment,
    Case,
    Command,
    Compute,
    For,
    Function,
    Group,
    If,
    Loop,
    Node,
    Nodes,
    Pipeline,
    Redirects,
    Script,
    Test,
    Text,
)
from cli_guard.commands.plain import find_names, find_outside, is_number, is_plain_name
from cli_guard.commands.scope import (
    ANYTHING,
    NOTHING,
    REMOTE,
    SECRET,
    Stream,
    make_doubtful,
    make_unsure,
    merge,
    narrowest,
    origin_of,
    restore,
    taints_of,
)

COMPARISONS = ("-eq", "-ne", "-lt", "-le", "-gt", "-ge")
Branches = tuple[tuple[Nodes, Nodes], ...]
EXITS = ((Text("exit"),), (Text("return"),))
APART = ("subshell", "background", "coproc")


@dataclass
class Shell(Machine):
    """A shell that walks a script node by node.

    `names_read` are the variables of all texts but `parsed`, `called` the bodies that ran, `assigned` what a loop set.
    """

    uncalled: dict[str, Node] = field(default_factory=dict)
    called: set[int] = field(default_factory=set)
    assigned: set[str] = field(default_factory=set)
    parsed: list[Script] = field(default_factory=list)
    names_read: set[str] = field(default_factory=set)

    def invoke(self, fields: list[Field], stdin: Stream, span: Span) -> Stream:
        return invoke(self, fields, stdin, span)

    def run_nested(self, text: str, span: Span, stdin: Stream = NOTHING) -> Stream:
        with self.nested(span):
            return self.run_text(text, stdin)

    def run_text(self, text: str, stdin: Stream = NOTHING) -> Stream:
        """Run a text. What is outside of the plain subset, or no shell syntax at all, is an effect of its own."""
        self.budget.read(text)
        script = parse(text)
        self.parsed.append(script)
        for span in script.errors[:1]:
            with self.acting(None):
                self.emit(Kind.UNKNOWN, None, "not understood as shell syntax", span)
        if self.context.setting is not Setting.CHANGE:
            for span, construct in find_outside(script):
                self.reject(construct, span)
        return self.run_script(script, stdin)

    def reject(self, construct: str, span: Span) -> None:
        """Emit that a construct is outside of the plain subset, so that what it does is not judged."""
        if self.context.setting is not Setting.CHANGE:
            with self.acting(None):
                self.emit(Kind.UNKNOWN, None, f"uses {construct}: not judged", span)

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
        for node in nodes:
            outputs.append(self.run_next(node, stdin))
            stdin = share_input(stdin)
        return merge(outputs)

    def run_next(self, node: Node, stdin: Stream) -> Stream:
        """Run a command of a list; where a `cd` may have failed, what follows runs in one of two folders."""
        output = self.run(node, stdin)
        self.scope.unsure_folder = self.scope.unsure_folder or self.scope.may_have_stayed
        self.scope.may_have_stayed = False
        return output

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
        if isinstance(node, AndOr):
            return self.run_and_or(node, stdin)
        if isinstance(node, Function):
            return self.define(node)
        source, sinks = redirects.apply_redirects(self, node.redirects, stdin)
        return self.write_out(
            node.redirects, sinks, partial(self.run_compound, node, source)
        )

    def run_in_subshell(self, node: Node, stdin: Stream) -> Stream:
        with self.subshell():
            return self.run(node, stdin)

    def run_compound(self, node: Node, stdin: Stream) -> Stream:
        if isinstance(node, Group):
            with self.subshell() if node.kind in APART else nullcontext():
                return self.run_nodes(node.items, stdin)
        if isinstance(node, If):
            return self.run_if(node.branches, node.otherwise, stdin)
        if isinstance(node, Loop):
            return self.repeat(
                partial(self.run_nodes, (*node.condition, *node.body)), stdin
            )
        if isinstance(node, For):
            return self.for_each(node, stdin)
        if isinstance(node, Case):
            return self.run_case(node, stdin)
        if isinstance(node, Test):
            return self.test(node)
        if isinstance(node, Compute):
            self.expander().one(node.expression)
        return NOTHING

    def run_and_or(self, node: AndOr, stdin: Stream) -> Stream:
        """Run a list of `&&` and `||`: the first always runs; what follows `||` may do so after any of the others."""
        before = self.scope.folder
        outputs = [self.run(node.items[0], stdin)]
        variables = dict(self.scope.variables)
        first = self.scope.folder
        for operator, item in zip(node.operators, node.items[1:], strict=True):
            here = self.scope.folder
            if operator == "||":
                # It runs where one of the others has failed, a `cd` among them.
                self.scope.variables = make_unsure(variables, self.scope.variables)
                self.scope.folder = before if self.scope.may_have_stayed else here
                self.lose_folder(first)
            outputs.append(make_doubtful(self.run(item, stdin)))
            if self.scope.folder == before:
                self.scope.folder = here
            if operator == "||" and is_exit(item):
                # What follows the list runs only if all has gone well.
                self.scope.may_have_stayed, first = False, self.scope.folder
        self.scope.variables = make_unsure(variables, self.scope.variables)
        self.lose_folder(first)
        return merge(outputs)

    def run_if(self, branches: Branches, otherwise: Nodes, stdin: Stream) -> Stream:
        """Run `if`: the next condition is tested where the body of this one has not run."""
        if not branches:
            return self.run_nodes(otherwise, stdin)
        condition, body = branches[0]
        tested = self.run_nodes(condition, stdin)
        taken = self.run_branches(
            [
                partial(self.run_nodes, body, stdin),
                partial(self.run_if, branches[1:], otherwise, stdin),
            ]
        )
        return merge([tested, taken])

    def run_case(self, node: Case, stdin: Stream) -> Stream:
        for word in (
            node.word,
            *(word for patterns, _, _ in node.branches for word in patterns),
        ):
            self.expander().one(word)
        return self.run_branches(
            partial(self.run_nodes, body, stdin) for _, body, _ in node.branches
        )

    def run_branches(self, bodies: Iterable[Callable[[], Stream]]) -> Stream:
        """Run branches of which at most one is taken: each begins with the variables from before all of them."""
        before = dict(self.scope.variables)
        folder = self.scope.folder
        after = before
        last = folder
        outputs = []
        for body in bodies:
            self.scope.variables = dict(before)
            self.scope.folder = folder
            outputs.append(make_doubtful(body()))
            after = make_unsure(after, {**after, **self.scope.variables})
            if self.scope.folder != folder:
                last = self.scope.folder
        self.scope.variables = after
        self.scope.folder = last
        self.lose_folder(folder)
        return merge(outputs)

    def repeat(self, once: Callable[[Stream], Stream], stdin: Stream) -> Stream:
        """Run the body of a loop: again, if it sets variables, with unknown ones as in any later round."""
        before = dict(self.scope.variables)
        folder = self.scope.folder
        outer = self.assigned
        self.assigned = set()
        output = once(stdin)
        changed = {
            name: self.scope.variables[name]
            for name in self.assigned
            if name in self.scope.variables
        }
        if (
            changed or self.scope.folder != folder
        ) and self.context.setting is not Setting.CHANGE:
            # A round may pass a value on to the next: each may have come from any of them.
            values = [
                *changed.values(),
                *(before[name] for name in changed if name in before),
            ]
            unknown = Stream(
                None, taints_of(values), narrowest(set(map(origin_of, values)))
            )
            self.scope.variables = {
                **self.scope.variables,
                **dict.fromkeys(changed, unknown),
            }
            self.lose_folder(folder)
            output = merge([output, once(share_input(stdin))])
        self.scope.variables = make_unsure(before, self.scope.variables)
        self.lose_folder(folder)
        self.assigned |= outer
        return make_doubtful(output)

    def lose_folder(self, before: str | None) -> None:
        """Take the current folder as unsure after commands that may not have run and have changed it."""
        self.scope.unsure_folder = self.scope.unsure_folder or self.scope.folder != before

    def for_each(self, node: For, stdin: Stream) -> Stream:
        fields = self.expander().fields(node.words) if node.words is not None else []
        streams = [stream_of(each) for each in fields] or [self.expander().variable("@")]
        if CODE_NAMES.match(node.name):
            self.environment(node.name, None, node.span)
        self.check_name(node.name, node.span)

        def once(stdin: Stream) -> Stream:
            outputs = []
            for stream in dict.fromkeys(streams):
                self.set_variable(node.name, stream)
                outputs.append(self.run_nodes(node.body, stdin))
                stdin = share_input(stdin)
            return merge(outputs)

        # That the variable of the loop itself changes does not make a round differ.
        self.set_variable(node.name, streams[-1])
        return self.repeat(once, stdin)

    def test(self, node: Test) -> Stream:
        """Expand the words of `[[ ... ]]`; what `-eq` and its like compare is evaluated, so it has to be a number."""
        expander = self.expander()
        fields = [expander.one(word) for word in node.words]
        for at, each in enumerate(fields):
            if each.text not in COMPARISONS:
                continue
            for word, given in [*zip(node.words, fields, strict=True)][
                max(at - 1, 0) : at + 2 : 2
            ]:
                parts = [part for part in word.parts if getattr(part, "text", "x")]
                sure = given.known and (given.text or "").removeprefix("-").isdecimal()
                if not sure and not (len(parts) == 1 and is_number(parts[0])):
                    self.reject(
                        "arithmetic on a value that is not known to be a number", word.span
                    )
        return NOTHING

    def define(self, node: Function) -> Stream:
        """Define a function; it is judged at its calls, or at the end if there are none."""
        self.scope.functions[node.name] = node.body
        if floors.calls_itself_twice(node):
            floors.deny_fork_bomb(self, node.span)
        elif id(node.body) not in self.called:
            self.uncalled[node.name] = node.body
        return NOTHING

    def call(
        self, name: str, body: Node, arguments: tuple[Stream, ...] | None, stdin: Stream
    ) -> Stream:
        self.uncalled.pop(name, None)
        self.called.add(id(body))
        running = f"{name} {id(body)}"
        if running in self.running:
            self.emit(
                Kind.UNKNOWN,
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

    def command(self, node: Command, stdin: Stream) -> Stream:
        expander = self.expander()
        fields = expander.fields(node.words)
        source, sinks = redirects.apply_redirects(self, node.redirects, stdin)
        if not fields:
            for assignment in node.assignments:
                self.assign(assignment, expander, alone=True)
            # `$(< file)` prints the file, but not with other redirections.
            copied = make_doubtful(source) if node.redirects and not node.words else NOTHING
            return redirects.write_sinks(self, copied, sinks)
        outer = dict(self.scope.variables)
        exported = set(self.scope.exported)
        for assignment in node.assignments:
            # `IFS= read` is how a line is read: it splits nothing else.
            reads_line = assignment.name == "IFS" and fields[0].text == "read"
            self.assign(assignment, expander, alone=reads_line)
        if source == NOTHING and self.scope.stdin is not None:
            source = self.scope.stdin
        if source == NOTHING and redirects.is_connected(self, sinks):
            source = redirects.FROM_NETWORK
        output = self.write_out(
            node.redirects, sinks, partial(self.invoke, fields, source, node.span)
        )
        if node.assignments:
            self.scope.variables = {
                **self.scope.variables,
                **restore(outer, (each.name for each in node.assignments)),
            }
            self.scope.exported -= {each.name for each in node.assignments} - exported
        return output

    def write_out(
        self, given: Redirects, sinks: redirects.Sinks, run: Callable[[], Stream]
    ) -> Stream:
        """Run a command with its files, which are opened before it: where one cannot be, it does not run."""
        before = self.scope.folder
        variables = dict(self.scope.variables)
        output = run()
        after = self.scope.folder
        self.scope.folder = before
        left = redirects.write_sinks(self, output, sinks)
        self.scope.folder = after
        if redirects.may_not_open(given, sinks):
            self.lose_folder(before)
            self.scope.variables = make_unsure(variables, self.scope.variables)
            left = make_doubtful(left)
        return left

    def assign(self, node: Assignment, expander: Expander, *, alone: bool) -> None:
        """Set a variable, `alone` or in front of a command, which then sees it."""
        name = node.name
        value = stream_of(expander.one(node.value))
        if node.append:
            value = merge([self.scope.variables.get(name, NOTHING), value])
        self.set_variable(name, Stream(None, value.taints) if node.element else value)
        is_code = name != "IFS" and CODE_NAMES.match(name)
        if not alone or is_code or name in self.scope.exported:
            self.environment(name, None if value.glob else value.text, node.span)
        elif node.name != "IFS" and variable_means(name, value.text):
            self.check_name(name, node.span)

    def check_name(self, name: str, span: Span) -> None:
        """Reject setting a variable that programs may read, unless the text reads it, or bash itself."""
        while self.parsed:
            self.names_read.update(find_names(self.parsed.pop().items))
        if not is_plain_name(name, self.names_read):
            self.reject(f"{name}, which may mean something to a program", span)

    def set_variable(self, name: str, value: Stream) -> None:
        self.scope.variables[name] = value
        self.assigned.add(name)

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


def is_exit(node: Node) -> bool:
    """Return whether a command leaves the script, or ends with one that does."""
    last = (
        node.items[-1]
        if isinstance(node, Group) and node.kind == "group" and node.items
        else node
    )
    return isinstance(last, Command) and bool(last.words) and last.words[0].parts in EXITS


def share_input(stdin: Stream) -> Stream:
    """Return an input of which an earlier command may have read a part."""
    return stdin if stdin.text is None or stdin == NOTHING else replace(stdin, assumed=True)

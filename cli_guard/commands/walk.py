"""Walk through a script as a shell would, without running anything, and collect its effects."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import partial

from cli_guard.commands import floors
from cli_guard.commands.effects import redirects
from cli_guard.commands.effects.environment import CODE_NAMES, variable_means
from cli_guard.commands.effects.invocation import invoke
from cli_guard.commands.expand.fields import stream_of
from cli_guard.commands.expand.words import Expander
from cli_guard.commands.parse.tree import (
    AndOr,
    Assignment,
    Case,
    CommandGroup,
    Compute,
    For,
    FunctionDefinition,
    If,
    Loop,
    Node,
    Nodes,
    ParsedCommand,
    Pipeline,
    Redirects,
    Test,
    Text,
)
from cli_guard.commands.plain import COMPARISONS, is_number
from cli_guard.commands.scope import (
    NAMING,
    NOTHING,
    NUMBER,
    ShellScope,
    Stream,
    holds_number,
    make_doubtful,
    make_unsure,
    merge,
    narrowest,
    origin_of,
    restore,
    share_input,
    taints_of,
)
from cli_guard.commands.shell import Interpreter, Shell

Branches = tuple[tuple[Nodes, Nodes], ...]
EXITS = ((Text("exit"),), (Text("return"),))
APART = ("subshell", "background", "coproc")


def new_shell(scope: ShellScope) -> Shell:
    return Shell(scope, Interpreter(run_node, invoke))


def run_node(shell: Shell, node: Node, stdin: Stream) -> Stream:
    """Run one node and return what it prints."""
    if isinstance(node, ParsedCommand):
        return command(shell, node, stdin)
    if isinstance(node, Pipeline):
        stream = stdin
        for stage in node.stages:
            stream = run_in_subshell(shell, stage, stream)
        return stream
    if isinstance(node, AndOr):
        return run_and_or(shell, node, stdin)
    if isinstance(node, FunctionDefinition):
        return define(shell, node)
    source, sinks = redirects.apply_redirects(shell, node.redirects, stdin)
    return write_out(
        shell, node.redirects, sinks, partial(run_compound, shell, node, source)
    )


def run_in_subshell(shell: Shell, node: Node, stdin: Stream) -> Stream:
    with shell.subshell():
        return shell.run(node, stdin)


def run_compound(shell: Shell, node: Node, stdin: Stream) -> Stream:
    if isinstance(node, CommandGroup):
        with shell.subshell() if node.kind in APART else nullcontext():
            return shell.run_nodes(node.items, stdin)
    if isinstance(node, If):
        return run_if(shell, node.branches, node.otherwise, stdin)
    if isinstance(node, Loop):
        return repeat(shell, partial(shell.run_nodes, (*node.condition, *node.body)), stdin)
    if isinstance(node, For):
        return for_each(shell, node, stdin)
    if isinstance(node, Case):
        return run_case(shell, node, stdin)
    if isinstance(node, Test):
        return test(shell, node)
    if isinstance(node, Compute):
        shell.expander().one(node.expression)
    return NOTHING


def run_and_or(shell: Shell, node: AndOr, stdin: Stream) -> Stream:
    """Run a list of `&&` and `||`: the first always runs; what follows `||` may do so after any of the others."""
    before = shell.scope.folder
    outputs = [shell.run(node.items[0], stdin)]
    variables = dict(shell.scope.variables)
    first = shell.scope.folder
    for operator, item in zip(node.operators, node.items[1:], strict=True):
        here = shell.scope.folder
        if operator == "||":
            # It runs where one of the others has failed, a `cd` among them.
            shell.scope.variables = make_unsure(variables, shell.scope.variables)
            shell.scope.folder = before if shell.scope.may_have_stayed else here
            shell.lose_folder(first)
        shell.statement = len(shell.effects)
        outputs.append(make_doubtful(shell.run(item, stdin)))
        if shell.scope.folder == before:
            shell.scope.folder = here
        if operator == "||" and is_exit(item):
            # What follows the list runs only if all has gone well.
            shell.scope.may_have_stayed = False
            first = shell.scope.folder
    shell.scope.variables = make_unsure(variables, shell.scope.variables)
    shell.lose_folder(first)
    return merge(outputs)


def run_if(shell: Shell, branches: Branches, otherwise: Nodes, stdin: Stream) -> Stream:
    """Run `if`: the next condition is tested where the body of this one has not run."""
    if not branches:
        return shell.run_nodes(otherwise, stdin)
    condition, body = branches[0]
    tested = shell.run_nodes(condition, stdin)
    taken = run_branches(
        shell,
        [
            partial(shell.run_nodes, body, stdin),
            partial(run_if, shell, branches[1:], otherwise, stdin),
        ],
    )
    return merge([tested, taken])


def run_case(shell: Shell, node: Case, stdin: Stream) -> Stream:
    for word in (
        node.word,
        *(word for patterns, _, _ in node.branches for word in patterns),
    ):
        shell.expander().one(word)
    bodies = (partial(shell.run_nodes, body, stdin) for _, body, _ in node.branches)
    return run_branches(shell, bodies)


def run_branches(shell: Shell, bodies: Iterable[Callable[[], Stream]]) -> Stream:
    """Run branches of which at most one is taken: each begins with the variables from before all of them."""
    before = dict(shell.scope.variables)
    folder = shell.scope.folder
    after = before
    last = folder
    outputs = []
    for body in bodies:
        shell.scope.variables = dict(before)
        shell.scope.folder = folder
        outputs.append(make_doubtful(body()))
        after = make_unsure(after, {**after, **shell.scope.variables})
        if shell.scope.folder != folder:
            last = shell.scope.folder
    shell.scope.variables = after
    shell.scope.folder = last
    shell.lose_folder(folder)
    return merge(outputs)


def repeat(shell: Shell, once: Callable[[Stream], Stream], stdin: Stream) -> Stream:
    """Run the body of a loop: again, if it sets variables, with unknown ones as in any later round."""
    before = dict(shell.scope.variables)
    folder = shell.scope.folder
    outer = shell.assigned
    shell.assigned = {}
    output = once(stdin)
    if (shell.assigned or shell.scope.folder != folder) and not shell.in_change:
        # A round may pass a value on to the next: each may have come from any of them.
        start = dict(shell.scope.variables)
        numbers = set(shell.assigned)
        while True:
            # What only holds and gets numbers in a round does so in each.
            numbers = {name for name in numbers if gets_numbers(shell, name, before)}
            values = [value for each in shell.assigned.values() for value in each]
            values += [before[name] for name in shell.assigned if name in before]
            # A name that is known now is not lost among others.
            named = any(each.text and NAMING.search(each.text) for each in values)
            origin = "" if named else narrowest(set(map(origin_of, values)))
            unknown = Stream(None, taints_of(values), origin)
            shell.scope.variables = {
                **start,
                **dict.fromkeys(shell.assigned, unknown),
                **dict.fromkeys(numbers, NUMBER),
            }
            shell.lose_folder(folder)
            output = merge([output, once(share_input(stdin))])
            if all(gets_numbers(shell, name, before) for name in numbers):
                break
    shell.scope.variables = make_unsure(before, shell.scope.variables)
    shell.lose_folder(folder)
    for name, each in outer.items():
        shell.assigned.setdefault(name, set()).update(each)
    return make_doubtful(output)


def gets_numbers(shell: Shell, name: str, before: dict[str, Stream]) -> bool:
    """Return whether a variable held a number before a loop, and got nothing else in it."""
    first = before.get(name)
    return (
        first is not None
        and not first.perhaps
        and name in shell.scope.variables
        and all(map(holds_number, (first, *shell.assigned[name])))
    )


def for_each(shell: Shell, node: For, stdin: Stream) -> Stream:
    fields = shell.expander().fields(node.words) if node.words is not None else []
    streams = [stream_of(each) for each in fields] or [shell.expander().variable("@")]
    if CODE_NAMES.match(node.name):
        shell.environment(node.name, None, node.span)
    shell.check_name(node.name, node.span)

    def once(stdin: Stream) -> Stream:
        outputs = []
        for stream in dict.fromkeys(streams):
            shell.set_variable(node.name, stream)
            outputs.append(shell.run_nodes(node.body, stdin))
            stdin = share_input(stdin)
        return merge(outputs)

    # That the variable of the loop itself changes does not make a round differ.
    shell.set_variable(node.name, streams[-1])
    return repeat(shell, once, stdin)


def test(shell: Shell, node: Test) -> Stream:
    """Expand the words of `[[ ... ]]`; what `-eq` and its like compare is evaluated, so it has to be a number."""
    expander = shell.expander()
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
                shell.reject(
                    "arithmetic on a value that is not known to be a number", word.span
                )
    return NOTHING


def define(shell: Shell, node: FunctionDefinition) -> Stream:
    """Define a function; it is judged at its calls, or at the end if there are none."""
    shell.scope.functions[node.name] = node.body
    if floors.multiplies(node.body, node.name):
        floors.deny_fork_bomb(shell, node.span)
    elif id(node.body) not in shell.called:
        shell.uncalled[node.name] = node.body
    return NOTHING


def command(shell: Shell, node: ParsedCommand, stdin: Stream) -> Stream:
    expander = shell.expander()
    fields = expander.fields(node.words)
    source, sinks = redirects.apply_redirects(shell, node.redirects, stdin)
    if not fields:
        for assignment in node.assignments:
            assign(shell, assignment, expander, alone=True)
        # `$(< file)` prints the file, but not with other redirections.
        copied = make_doubtful(source) if node.redirects and not node.words else NOTHING
        return redirects.write_sinks(shell, copied, sinks)
    outer = dict(shell.scope.variables)
    exported = set(shell.scope.exported)
    for assignment in node.assignments:
        # `IFS= read` is how a line is read: it splits nothing else.
        reads_line = assignment.name == "IFS" and fields[0].text == "read"
        assign(shell, assignment, expander, alone=reads_line)
    if source == NOTHING and shell.scope.stdin is not None:
        source = shell.scope.stdin
    if source == NOTHING and redirects.is_connected(shell, sinks):
        source = redirects.FROM_NETWORK
    output = write_out(
        shell, node.redirects, sinks, partial(shell.invoke, fields, source, node.span)
    )
    if node.assignments:
        shell.scope.variables = {
            **shell.scope.variables,
            **restore(outer, (each.name for each in node.assignments)),
        }
        shell.scope.exported -= {each.name for each in node.assignments} - exported
    return output


def write_out(
    shell: Shell, given: Redirects, sinks: redirects.Sinks, run: Callable[[], Stream]
) -> Stream:
    """Run a command with its files, which are opened before it: where one cannot be, it does not run."""
    before = shell.scope.folder
    variables = dict(shell.scope.variables)
    output = run()
    after = shell.scope.folder
    shell.scope.folder = before
    left = redirects.write_sinks(shell, output, sinks)
    shell.scope.folder = after
    if redirects.may_not_open(given, sinks):
        shell.lose_folder(before)
        shell.scope.variables = make_unsure(variables, shell.scope.variables)
        left = make_doubtful(left)
    return left


def assign(shell: Shell, node: Assignment, expander: Expander, *, alone: bool) -> None:
    """Set a variable, `alone` or in front of a command, which then sees it."""
    name = node.name
    value = stream_of(expander.one(node.value))
    if node.append:
        value = merge([shell.scope.variables.get(name, NOTHING), value])
    shell.set_variable(name, Stream(None, value.taints) if node.element else value)
    is_code = name != "IFS" and CODE_NAMES.match(name)
    if not alone or is_code or name in shell.scope.exported:
        shell.environment(name, None if value.glob else value.text, node.span)
    elif node.name != "IFS" and variable_means(name, value.text):
        shell.check_name(name, node.span)


def is_exit(node: Node) -> bool:
    """Return whether a command leaves the script, or ends with one that does."""
    last = (
        node.items[-1]
        if isinstance(node, CommandGroup) and node.kind == "group" and node.items
        else node
    )
    return (
        isinstance(last, ParsedCommand)
        and bool(last.words)
        and last.words[0].parts in EXITS
    )

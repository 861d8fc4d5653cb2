"""Plans for TypeScript, Go, Java and Rust: statements that yield one value, as a function with declared types."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli_guard.code.local_names import Bind, LocalNames, Span, span_of, within
from cli_guard.code.symbols import Symbol
from cli_guard.code.symbols.nesting import field_text, first_line, last_line, squeeze
from cli_guard.reviewers.refactor.extraction import (
    CANDIDATES,
    FEWEST_DECISIONS,
    FEWEST_LINES,
    LARGEST_SHARE,
    LONG,
    MOST_IN,
    gain,
)
from cli_guard.reviewers.refactor.metrics import DECISIONS
from cli_guard.reviewers.refactor.naming import camel, name_of_run, spans

if TYPE_CHECKING:
    from ast_grep_py import SgNode

CONDITIONS = re.compile(r"\b(?:if|switch|while) \(.*|.* (?:\?|&&|\|\|) ")
MENTIONS = re.compile(
    r"\bthis\.#?\w+|(?<![.\w\"'])(?!this\b|if\b|switch\b|while\b|typeof\b|null\b|undefined\b)[A-Za-z_]\w*"
)


@dataclass(frozen=True, slots=True)
class Block:
    """Statements that can be moved, the text of their lines, what they read, and what they give back or return."""

    statements: tuple["SgNode", ...]
    text: str
    reads: tuple[Bind, ...]
    gives: Bind | None
    returns: bool

    @property
    def lines(self) -> tuple[int, int]:
        return first_line(self.statements[0]), last_line(self.statements[-1])

    @property
    def span(self) -> Span:
        return span_of(self.statements[0])[0], span_of(self.statements[-1])[1]


def block_steps(language: str, symbol: Symbol, lines: Sequence[str]) -> list[str]:
    """Return the step that moves the best block; none if no block yields something with a name."""
    around = symbol.node.parent() if symbol.node is not None else None
    if (
        symbol.node is None
        or symbol.name in ("constructor", symbol.owner)
        or (around and around.kind() == "object")
    ):
        return []
    names = LocalNames(language, symbol.node)
    if not names.uses:
        return []
    most = LARGEST_SHARE * (symbol.end_line - symbol.body + 1)
    taken = {"", *re.findall(r"\w+", "\n".join(lines))}
    runs = [
        (first_line(run[0]), last_line(run[-1]), node, run)
        for node, run in _runs(names, lines)
    ]
    runs = [run for run in runs if FEWEST_LINES <= run[1] - run[0] + 1 <= most]
    found = []
    for first, last, container, statements in sorted(runs, key=lambda run: run[0] - run[1])[
        :CANDIDATES
    ]:
        block = _block(names, container, statements, "\n".join(lines[first - 1 : last]))
        name = (
            _name(language, symbol, block, container, lines[first - 3 : first - 1])
            if block
            else ""
        )
        other_this = block and symbol.kind != "method" and names.has_own("this", block.span)
        if block and name not in taken and not other_this:
            decisions = len(DECISIONS.findall(block.text))
            worth = gain(
                decisions, last - first + 1, len(block.reads) + 2 * (not block.returns)
            )
            if decisions >= FEWEST_DECISIONS or last - first + 1 >= LONG:
                found.append((worth, -first, -last, name, block))
    return (
        [_step(language, symbol, names, *max(found, key=lambda each: each[:3])[3:])]
        if found
        else []
    )


def _runs(
    names: LocalNames, lines: Sequence[str]
) -> Iterator[tuple["SgNode", tuple["SgNode", ...]]]:
    """Yield the runs of statements that have their lines for themselves, with the node that holds them."""
    for container in names.containers:
        inner = _statements(container)
        suite = [(_first_value(names, n), first_line(n), last_line(n)) for n in inner]
        found = {
            *spans(suite, lines),
            (0, len(inner)),
            *(
                (n, n + 1)
                for n, (name, _, _) in enumerate(suite)
                if len(inner) > 1 and not name
            ),
        }
        for start, end in sorted(found):
            if end > start and _has_whole_lines(inner[start], inner[end - 1], lines):
                yield container, tuple(inner[start:end])


def _statements(container: "SgNode") -> list["SgNode"]:
    label = container.field("value")
    inner = (
        n for n in container.named_children() if n != label and "comment" not in n.kind()
    )
    return [n for n in inner if n.kind() not in ("switch_label", "statement_list")]


def _first_value(names: LocalNames, statement: "SgNode") -> str:
    """Return the name that a statement declares, if it declares one."""
    if statement.kind() not in names.table["declares"]:
        return ""
    span = span_of(statement)
    found = [
        b.name for binds in names.binds.values() for b in binds if span[0] <= b.at < span[1]
    ]
    return found[0] if len(found) == 1 else ""


def _has_whole_lines(first: "SgNode", last: "SgNode", lines: Sequence[str]) -> bool:
    start = first.range().start
    end = last.range().end
    after = (
        lines[end.line][end.column :].strip()
        if end.line < len(lines) and end.column
        else ""
    )
    return not lines[start.line][: start.column].strip() and (
        after in ("", ";") or after.startswith("//")
    )


def _block(
    names: LocalNames, container: "SgNode", statements: tuple["SgNode", ...], text: str
) -> Block | None:
    """Return the block if moving it changes nothing, and it has one result at most."""
    span = (span_of(statements[0])[0], span_of(statements[-1])[1])
    table = names.table
    returns = False
    for kind, where, words in names.marks:
        if not within(where, span):
            continue
        if kind in table["refused"]:
            return None
        if kind in table["returns"]:
            own = names.is_own(where, span)
            if own and not re.match(r"return\s*[^\s;]", words):
                return None
            returns = returns or own
        elif kind.startswith(("break_", "continue_")):
            around = names.spans["targets" if kind.startswith("break_") else "loops"]
            if not re.fullmatch(r"\w+;?", words) or not any(
                within(where, t) and within(t, span) for t in around
            ):
                return None
    last = (
        statements[-1]
        if statements[-1].kind() != "expression_statement"
        else statements[-1].child(0)
    )
    whole = len(statements) == len(_statements(container))
    if returns and not (whole and last is not None and last.kind() in table["returns"]):
        return None
    reads, gives = _flow(names, span)
    most = MOST_IN + ("{receiver}" in table["head"])
    if (
        len({b.name for b in reads}) < len(reads)
        or len(reads) > most
        or len(gives) > (0 if returns else 1)
    ):
        return None
    if whole and gives and field_text(container.parent() or container, "condition"):
        return None  # parted from its condition
    twice = any(
        b.scope == g.scope and b.at < span[0]
        for g in gives
        if g not in reads
        for b in names.binds[g.name]
    )
    if twice or _is_captured(names, [*reads, *gives]) or "for await" in text:
        return None
    return Block(statements, text, reads, (*gives, None)[0], returns)


def _flow(names: LocalNames, span: Span) -> tuple[tuple[Bind, ...], list[Bind]]:
    """Return the names from outside that a run reads, and those it binds or changes for what comes after it."""
    reads: dict[int, Bind] = {}
    gives: dict[int, Bind] = {}
    for at, bind in names.uses:
        inside = span[0] <= at < span[1]
        born = span[0] <= bind.at < span[1]
        if inside and not born:
            reads[bind.at] = bind
            again = any(
                within(span, loop) and bind.at < loop[0] for loop in names.spans["loops"]
            )
            later = again or any(
                use >= span[1] for use, other in names.uses if other is bind
            )
            if at in names.writes and later:
                gives[bind.at] = bind
        elif born and not inside:
            gives[bind.at] = bind
    return tuple(reads[at] for at in sorted(reads)), list(gives.values())


def _is_captured(names: LocalNames, binds: Sequence[Bind]) -> bool:
    """Return whether a nested function shares a variable that changes."""
    for bind in binds:
        uses = [at for at, other in names.uses if other is bind and at != bind.at]
        for start, end in names.spans["nested"]:
            shared = {start <= at < end for at in (bind.at, *uses)}
            if len(shared) > 1 and any(at in names.writes for at in uses):
                return True
    return False


def _name(
    language: str, symbol: Symbol, block: Block, container: "SgNode", above: Sequence[str]
) -> str:
    around = container.parent()
    if (
        container.kind() == "statement_list"
        and around is not None
        and around.kind() == "block"
    ):
        around = around.parent()
    guard = field_text(around, "condition") if around is not None else ""
    guard = container.text().split("\n")[0] if "case" in container.kind() else guard
    result = block.gives.name if block.gives else ""
    taken = block.gives in block.reads
    name = name_of_run(
        block.text, above, symbol.name, result, taken, guard if block.returns else ""
    )
    return name if language == "rust" else camel(name)


def _step(language: str, symbol: Symbol, names: LocalNames, name: str, block: Block) -> str:
    """Write the step; without every type it says in words what goes in and out."""
    first, last = block.lines
    node = symbol.node
    table = names.table
    gives = block.gives
    receiver = node.field("receiver") if node is not None else None
    owner = next(
        (b for b in block.reads if receiver and within((b.at, b.at), span_of(receiver))),
        None,
    )
    reads = [bind for bind in block.reads if bind is not owner]
    kind = (
        "method"
        if owner or (symbol.kind == "method" and language not in ("go", "rust"))
        else "function"
    )
    move = f"Move lines {first} to {last} into a new {kind} `{name}` below `{symbol.name}`"
    if node is None or not _has_types(language, symbol, names, block, reads):
        own = ["`self`"] if names.has_own("self", block.span) else []
        quoted = [*own, *(f"`{bind.name}`" for bind in reads)] or ["no local name"]
        listed = " and ".join(filter(None, (", ".join(quoted[:-1]), quoted[-1])))
        back = (
            f" and gives back `{gives.name}`"
            if gives
            else " and always returns"
            if block.returns
            else ""
        )
        return f"{move}. It reads {listed}{back}; the function does not declare every type, so look them up."
    waits = names.has_own("await_expression", block.span)
    result = symbol.returns if block.returns else gives.type if gives else table["nothing"]
    if waits and not (block.returns and result.startswith("Promise<")):
        result = f"Promise<{result}>"
    modifiers = " ".join(
        squeeze(c.text())
        for c in node.children()[:4]
        if c.kind() in ("modifiers", "static")
    )
    throws = "".join(
        f" {squeeze(c.text())}" for c in node.children() if c.kind() == "throws"
    )
    generic = field_text(node, "type_parameters")
    head = table["method" if kind == "method" and "method" in table else "head"].format(
        name=name,
        taken=", ".join(
            table["parameter"].format(name=_mutable(language, b, block), type=b.type)
            for b in reads
        ),
        result=result,
        receiver=f"{field_text(node, 'receiver')} " if owner else "",
        generic=f"{generic} " if generic and language == "java" else generic,
        static="static " if "static" in modifiers.split() else "",
        throws=throws,
        waits="async " if waits else "",
    )
    prefix = (
        f"{owner.name}."
        if owner
        else "this."
        if kind == "method" and language != "java"
        else ""
    )
    call = f"{'await ' if waits else ''}{prefix}{name}({', '.join(b.name for b in reads)})"
    end = ";" if language != "go" else ""
    if gives is None:
        call = f"return {call}{end}" if block.returns else f"{call}{end}"
        ends = ""
    else:
        declared = (
            gives.declared
            if language == "rust"
            else gives.declared.parent() or gives.declared
        )
        word = re.match(r"const|let mut|let|", squeeze(declared.text()))
        form = table["assigned" if gives in block.reads else "declared"]
        call = form.format(
            word=word[0] if word else "", name=gives.name, type=gives.type, call=call
        )
        ends = f", and end it with `{table['ends'].format(name=gives.name)}`"
    return f"{move}: `{head.rstrip() if result else head.rstrip('-> ')} {{`{ends}. In their place: `{call}`."


def _mutable(language: str, bind: Bind, block: Block) -> str:
    return f"mut {bind.name}" if language == "rust" and bind is block.gives else bind.name


def _has_types(
    language: str, symbol: Symbol, names: LocalNames, block: Block, reads: Sequence[Bind]
) -> bool:
    """Return whether the text says all types, and each value means the same as a parameter of its type."""
    node = symbol.node
    gives = block.gives
    if node is None:
        return False
    if language == "javascript":
        return True
    result = gives.type if gives else symbol.returns if block.returns else "nothing"
    tries = [
        a
        for a in block.statements[0].ancestors()
        if "try" in a.kind() and within(span_of(a), names.whole)
    ]
    in_words = {
        "go": re.search(
            r"^\(\w+ |, \w+ ", result
        ),  # results with names, which would be bound twice
        "java": tries,  # what is thrown there need not be declared
        "rust": field_text(node, "type_parameters")
        or symbol.kind == "method"
        or "&" in result,
        "typescript": "{" in result,
    }
    if not result or in_words["typescript" if language == "tsx" else language]:
        return False
    start, end = (at - names.whole[0] for at in block.span)
    before = names.text[:start]
    run = names.text[start:end]
    if language in ("typescript", "tsx"):
        # A condition may have narrowed the type of what it mentions, but not that of a string or a list.
        plain = {b.name for b in reads if not re.match(r"[A-Z]\w*(?:<.*>)?$", b.type)}
        asked = {
            word for line in CONDITIONS.findall(before) for word in MENTIONS.findall(line)
        } - plain
        if any(re.search(rf"\b{word}\b", run) for word in asked):
            return False
    return all(_can_pass(language, b, names, run) for b in reads)


def _can_pass(language: str, bind: Bind, names: LocalNames, run: str) -> bool:
    """Return whether a value means the same as a parameter of its declared type."""
    name = bind.name
    declared = bind.declared
    if (
        declared.kind() in ("variable_declarator", "optional_parameter")
        and declared.field("value") is None
    ):
        return False  # it may have no value yet
    if language == "go" and bind.type and not re.match(names.table["shared"], bind.type):
        return not re.search(rf"&{name}\b|\b{name}\.\w+(?:\(|\s*[-+]?=[^=]|\[)", run)
    return bool(bind.type and re.match(names.table["shared"], bind.type))

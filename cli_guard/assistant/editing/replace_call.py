"""Plans "replace foo(a, b) with bar(b, a)": each Python call that fits is rewritten, with the import it then needs."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from cli_guard.assistant.editing.imports import add_imports, drop_new_unused, import_for
from cli_guard.assistant.editing.modules import Python
from cli_guard.assistant.editing.other_languages import plan_uses
from cli_guard.assistant.editing.plan import Draft, Plan
from cli_guard.assistant.editing.prose import mention_risks
from cli_guard.assistant.editing.scopes import Occurrence
from cli_guard.assistant.editing.sources import (
    Edit,
    LineMap,
    Sources,
    apply_edits,
    join_some,
)
from cli_guard.assistant.editing.usages import usages_of
from cli_guard.assistant.request_change import Change

LONGEST = 2_000
# An argument of these kinds can stand anywhere without brackets.
TIGHT = (
    *(
        ast.Name,
        ast.Constant,
        ast.Call,
        ast.Attribute,
        ast.Subscript,
        ast.List,
        ast.Dict,
        ast.Set,
        ast.Tuple,
    ),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.JoinedStr),
)


@dataclass(frozen=True, slots=True)
class Replacement:
    """What to look for, and what replaces it; `arguments` is None where any will do, and the name alone changes.

    The names in `variables` stand for any argument.
    """

    callee: str
    arguments: tuple[ast.expr, ...] | None
    variables: frozenset[str]
    new: str
    tree: ast.expr

    def with_owner(self, text: str, written: str) -> str:
        """A new text with the owner as the file writes it, where it keeps the owner of the pattern."""
        owner = self.callee.rpartition(".")[0]
        is_same = owner and written and text.startswith(f"{owner}.")
        return written + text[len(owner) :] if is_same else text


def parse_expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body if len(text) <= LONGEST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def read_replacement(old: str, new: str) -> Replacement | None:
    """A replacement as a person writes it, None for what is no name or call of one."""
    found = parse_expression(old)
    tree = parse_expression(new)
    call = found if isinstance(found, ast.Call) else None
    callee = call.func if call is not None else found
    if (
        tree is None
        or callee is None
        or not is_dotted(callee)
        or (call is not None and call.keywords)
    ):
        return None
    bare = (
        tree.func
        if isinstance(tree, ast.Call) and not (tree.args or tree.keywords)
        else tree
    )
    if (call is None or not call.args) and is_dotted(bare):
        return Replacement(ast.unparse(callee), None, frozenset(), ast.unparse(bare), bare)
    if call is None or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    known = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
    # A single letter is no value: it means any argument, which the replacement drops.
    variables = {
        each.id
        for each in call.args
        if isinstance(each, ast.Name)
        and (each.id in known or re.fullmatch(r"[a-z]|arg\d?|_", each.id))
    }
    return Replacement(
        ast.unparse(callee), tuple(call.args), frozenset(variables), new.strip(), tree
    )


def is_dotted(node: ast.AST) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def plan_replace(sources: Sources, intent: Change) -> Plan:
    old = intent.get("old").strip("`")
    new = intent.get("new").strip("`")
    name = old.partition("(")[0]
    draft = Draft(
        sources,
        "replace call",
        f"Replace {old} with {new}" if new else f"Replace {old}",
        name,
    )
    if not new:
        return draft.refuse(f"the request does not say what replaces {old}")
    wanted = read_replacement(old, new)
    if wanted is None:
        return plan_uses(sources, "replace call", intent, name)
    python = Python(sources)
    last = name.rpartition(".")[2]
    found = [
        each
        for path in python.mentioning(last)
        for each in find_uses(python, path, wanted, draft)
    ]
    if not found:
        return plan_uses(sources, "replace call", intent, name)
    edits = [edit for _, edit in found if edit is not None]
    names = {(each.path, each.start) for each, _ in found}
    paths = sorted({each.path for each in edits})
    changes = apply_edits(sources, edits)
    draft.add_step(f"Replace {len(edits)} uses of {name}", paths)
    unknown = list(add_needed(python, changes, wanted, draft))
    if unknown:
        purpose = f"Import what the replacement names: {', '.join(unknown)}"
        draft.add_step(purpose, paths, is_mechanical=False)
    others = [
        f"{path}:{sources.line(path, each.start)}"
        for path in python.mentioning(last)
        for each in python.places(path, last)
        if each.node in python.file(path).calls and (path, each.start) not in names
    ]
    if others:
        left = f"other calls named {last} were left, they may mean something else"
        draft.risks.append(f"{left}: {join_some(others)}")
    draft.risks += mention_risks(
        python, last, [Edit(path, start, start, "") for path, start in names]
    )
    draft.usages = usages_of(sources, last, names)
    return draft.finish(drop_new_unused(sources, changes))


def find_uses(
    python: Python, path: str, wanted: Replacement, draft: Draft
) -> Iterator[tuple[Occurrence, Edit | None]]:
    """What is meant in one file, with its edit; a call that does not fit, or is in another, is left to a person."""
    text = python.texts[path]
    calls = python.file(path).calls
    end = 0
    for each in python.places(path, wanted.callee.rpartition(".")[2]):
        node = each.node
        is_use = isinstance(node, ast.Name | ast.Attribute) and each.role in (
            "read",
            "attribute",
        )
        if not is_use or (wanted.arguments is not None and node not in calls):
            continue
        if not is_meant(python, path, node, wanted):
            continue
        owner = ast.unparse(node.value) if isinstance(node, ast.Attribute) else ""
        if wanted.arguments is None:
            start = each.start - len(f"{owner}.") if owner else each.start
            if text.startswith(owner, start):
                yield (
                    each,
                    Edit(path, start, each.end, wanted.with_owner(wanted.new, owner)),
                )
            continue
        call, lines = calls[node]
        span = lines.span(call)
        bound = bind(wanted, call)
        if bound is not None and span[0] >= end:
            end = span[1]
            yield (
                each,
                Edit(
                    path, *span, wanted.with_owner(fill(wanted, bound, text, lines), owner)
                ),
            )
            continue
        nested = "it is an argument of another such call: run the request once more"
        reason = (
            nested
            if bound is not None
            else f"its arguments do not fit {wanted.callee}(...) as written"
        )
        draft.by_hand.append(python.location(each, reason))
        yield each, None


def is_meant(python: Python, path: str, node: ast.AST, wanted: Replacement) -> bool:
    full = python.qualify(path, node)
    if full is not None:
        return f".{full}".endswith(f".{wanted.callee}")
    if not is_dotted(node) or ast.unparse(node) != wanted.callee:
        return False
    binders = python.binders(path, node) if isinstance(node, ast.Name) else []
    return all(each.scopes[0].kind == "module" for each in binders)


def bind(wanted: Replacement, call: ast.Call) -> dict[str, ast.expr] | None:
    """What each name of the pattern is in a call, None if its arguments do not fit."""
    asked = wanted.arguments or ()
    given = call.args
    if (
        len(given) != len(asked)
        or call.keywords
        or any(isinstance(each, ast.Starred) for each in given)
    ):
        return None
    found: dict[str, ast.expr] = {}
    for pattern, argument in zip(asked, given, strict=True):
        is_variable = isinstance(pattern, ast.Name) and pattern.id in wanted.variables
        known = found.setdefault(ast.unparse(pattern), argument) if is_variable else pattern
        if ast.dump(known) != ast.dump(argument):
            return None
    return found


def fill(wanted: Replacement, bound: dict[str, ast.expr], text: str, lines: LineMap) -> str:
    """The replacement with each name put in; brackets keep together what an operator would pull apart."""
    new = wanted.new
    own = LineMap(wanted.new)
    edits = []
    calls = [each for each in ast.walk(wanted.tree) if isinstance(each, ast.Call)]
    free = {
        wanted.tree,
        *(a for c in calls for a in (*c.args, *(keyword.value for keyword in c.keywords))),
    }
    for node in ast.walk(wanted.tree):
        if isinstance(node, ast.Name) and node.id in bound:
            value = bound[node.id]
            written = text[slice(*lines.span(value))]
            is_whole = node in free or isinstance(value, TIGHT)
            edits.append((own.span(node), written if is_whole else f"({written})"))
    for (start, end), put in sorted(edits, reverse=True):
        new = new[:start] + put + new[end:]
    return new


def add_needed(
    python: Python, changes: dict[str, str], wanted: Replacement, draft: Draft
) -> Iterator[str]:
    """Add the imports that the replacement needs; yields the names whose module is not known."""
    nodes = list(ast.walk(wanted.tree))
    owned = {each.value for each in nodes if isinstance(each, ast.Attribute)}
    heads = {each.id: each in owned for each in nodes if isinstance(each, ast.Name)}
    owner = wanted.callee.rpartition(".")[0]
    if owner and wanted.new.startswith(f"{owner}."):
        heads.pop(owner.partition(".")[0], None)
    unknown: dict[str, None] = {}
    for path in sorted(changes):
        for head, is_owner in heads.items():
            found = (
                ""
                if head in wanted.variables
                else import_for(python, path, head, dotted=is_owner)
            )
            if found is None:
                draft.by_hand.append(
                    (path, 1, f"{head} must be imported here: where from is not known")
                )
                unknown[head] = None
            elif found:
                changes[path] = add_imports(python.sources, changes[path], [found])
    yield from unknown
